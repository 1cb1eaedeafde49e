import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../platform/clock';

const REPEAT_PAUSE_MS = 200;
/** A claim older than 5 s is of no use any more. */
export const CLAIM_REPEAT_MS = 3000;
/** An outage of Redis that lasts longer leaves what was answered in it unknown. */
export const ACK_REPEAT_MS = 600_000;

/** Repeats a call to Redis that is safe to repeat, until it is answered or the time is up; then it rejects as the call did. */
export async function untilAnswered<T>(
  call: () => Promise<T>,
  { clock, limitMs }: { clock: Clock; limitMs: number },
): Promise<T> {
  const startedMs = clock.monotonicMs();
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (clock.monotonicMs() - startedMs >= limitMs) throw error;
      await sleep(REPEAT_PAUSE_MS);
    }
  }
}
