import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { createQueues, type WakeUp } from '../../src/queue/queues';
import { connectFailFast } from '../../src/store/connect';
import { PARTITION } from '../../src/store/keys';
import type { PatientClient } from './client';
import { createRandom } from './random';

export interface StrayTools {
  readonly seed: number;
  readonly redisUrl: string;
  readonly client: PatientClient;
  /** The tows ordered so far. */
  readonly refs: readonly string[];
  readonly signal: AbortSignal;
}

const EVERY_MS = 700;
const TOWS_AT_ONCE = 30;
const COPIES = 3;

/**
 * Wakes workers for nothing, several at a time for the same tow and the same delivery, until the signal ends it: however
 * a wake-up comes about, and however often, it must do no harm. Returns how many there were.
 */
export async function wakeForNothing({ seed, redisUrl, client, refs, signal }: StrayTools): Promise<number> {
  const random = createRandom(seed, 5);
  const tools = { clock: systemClock, log: silentLog };
  const connection = connectFailFast(redisUrl, tools);
  const queues = createQueues({ ...tools, connection, prefix: PARTITION, deduplicate: false });
  let count = 0;
  try {
    while (!signal.aborted) {
      const newest = await client.deliveries(null);
      const wakeUps = [
        ...(refs.length === 0 ? [] : Array.from({ length: TOWS_AT_ONCE }, () => random.pick(refs.slice(-500)))).map(
          (ref): WakeUp => ({ queue: 'reports', ref }),
        ),
        ...newest.items.slice(0, TOWS_AT_ONCE).map(({ id }): WakeUp => ({ queue: 'deliveries', ref: id })),
      ];
      const copies = wakeUps.flatMap((wakeUp) => Array.from({ length: COPIES }, () => wakeUp));
      // While Redis is away nobody can be woken.
      const areAdded = await queues.wake(copies).then(
        () => true,
        () => false,
      );
      if (areAdded) count += copies.length;
      await pause(EVERY_MS, undefined, { signal }).catch(() => {});
    }
    return count;
  } finally {
    await queues.close();
    connection.disconnect();
  }
}
