import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createQueues } from '../../src/queue/queues';
import { connectFailFast } from '../../src/store/redis/connect';
import { PARTITION } from '../../src/store/keys';
import type { RetryingClient } from './client';
import { createRandom, type Random } from './random';

export interface SpuriousJobTools {
  readonly seed: number;
  readonly redisUrl: string;
  readonly client: RetryingClient;
  /** The tows ordered so far. */
  readonly refs: readonly string[];
  /** The violations reported so far. */
  readonly violationIds: readonly string[];
  readonly signal: AbortSignal;
}

const EVERY_MS = 700;
const TOWS_AT_ONCE = 30;
const VIOLATIONS_AT_ONCE = 10;
const COPIES = 3;

/**
 * Adds jobs that nothing asked for, several at once for the same tow, violation and delivery, until the signal aborts:
 * they must do no harm. Returns their number.
 */
export async function addSpuriousJobs(tools: SpuriousJobTools): Promise<number> {
  const { redisUrl, client, refs, violationIds, signal } = tools;
  const random = createRandom(tools.seed, 5);
  const quiet = { clock: systemClock, log: silentLog };
  const connection = connectFailFast(redisUrl, quiet);
  const queues = createQueues({ ...quiet, connection, prefix: PARTITION });
  let count = 0;
  try {
    while (!signal.aborted) {
      const newest = await client.deliveries(null);
      const copies = {
        reports: copiesOf(some(refs, TOWS_AT_ONCE, random)),
        violations: copiesOf(some(violationIds, VIOLATIONS_AT_ONCE, random)),
        deliveries: copiesOf(newest.items.slice(0, TOWS_AT_ONCE).map(({ id }) => id)),
      };
      // Jobs cannot be added while Redis is away.
      const areAdded = await Promise.all([
        queues.add('reports', copies.reports),
        queues.add('violations', copies.violations),
        queues.add('deliveries', copies.deliveries),
      ]).then(
        () => true,
        () => false,
      );
      if (areAdded) count += Object.values(copies).flat().length;
      await pause(EVERY_MS, undefined, { signal }).catch(() => {});
    }
    return count;
  } finally {
    await queues.close();
    connection.disconnect();
  }
}

/** A random selection of the newest ids, with repetitions. */
function some(names: readonly string[], count: number, random: Random): string[] {
  const newest = names.slice(-500);
  return newest.length === 0 ? [] : Array.from({ length: count }, () => random.pick(newest));
}

function copiesOf(names: readonly string[]): string[] {
  return names.flatMap((name) => Array.from({ length: COPIES }, () => name));
}
