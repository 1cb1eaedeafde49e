import { setTimeout as sleep } from 'node:timers/promises';
import { ReplyError } from 'ioredis';
import type { Clock } from '../platform/clock';

const REPEAT_PAUSE_MS = 200;
/** A claim older than 5 s is of no use any more. */
export const CLAIM_REPEAT_MS = 3000;
/** An outage of Redis that lasts longer leaves what was answered in it unknown. */
export const ACK_REPEAT_MS = 600_000;

/**
 * Repeats a call to Redis that is safe to repeat, while Redis cannot be reached or cannot work, until the time is up; then it
 * rejects as the call did. Any other failure is not repeated: it would fail the same way again.
 */
export async function untilAnswered<T>(
  call: () => Promise<T>,
  { clock, limitMs }: { readonly clock: Pick<Clock, 'monotonicMs'>; readonly limitMs: number },
): Promise<T> {
  const startedMs = clock.monotonicMs();
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!mayPass(error) || clock.monotonicMs() - startedMs >= limitMs) throw error;
      await sleep(REPEAT_PAUSE_MS);
    }
  }
}

/** Replies by which Redis says that it cannot work now. Redis 6.2 puts those of a script behind words of its own. */
const CANNOT_WORK_NOW =
  /(?:^|-)(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|OOM|MISCONF|NOREPLICAS) |max number of clients/;
/** What the client library says of a connection that is gone, or that does not answer in time. */
const NO_CONNECTION =
  /^(?:Connection is closed|Stream isn't writeable|Command timed out|Socket timeout|Reached the max)/;
/** Its errors about commands that were under way, and about bytes that are not of Redis. */
const LOST_NAMES: readonly string[] = ['AbortError', 'ParserError'];
/** Of the system, and of a socket that is closed already. Other codes `ERR_…` are mistakes of a caller. */
const LOST_CODES = /^(?:E(?!RR_)|ERR_(?:STREAM|SOCKET)_)/;

/** Whether a failure is one of the connection to Redis, or of its server, that may be over later. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ReplyError) return CANNOT_WORK_NOW.test(error.message);
  if (LOST_NAMES.includes(error.name) || NO_CONNECTION.test(error.message)) return true;
  return 'code' in error && LOST_CODES.test(String(error.code));
}
