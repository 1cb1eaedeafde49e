import type { Redis } from 'ioredis';
import { repliesOf } from './batch-reads';
import type { Effect } from './commit';
import { KEYS } from './keys';
import { texts } from './parse';

/**
 * Tows whose reports a person has just made due. A worker takes them from this list and begins at once, which saves the
 * round trips of a scheduler and of a job. The list may lose tows: they stay in their schedule, and a scheduler adds a
 * job within its interval.
 */

/** While no worker runs the list only grows. Older tows than these are dropped. */
const KEPT_MAX = 1000;
const TAKEN_AT_ONCE_MAX = 100;
const BLOCKED_S = 5;

/** The effects that hand a tow to a worker. */
export function immediateEffects(ref: string): Effect[] {
  return [
    ['RPUSH', KEYS.immediateTows, ref],
    ['LTRIM', KEYS.immediateTows, -KEPT_MAX, -1],
  ];
}

/**
 * Waits up to 5 s for tows and takes them from the list; returns none of them while the queue of reports is paused.
 * `blocking` is a connection of its own, as other commands on it would wait too. `queueKey` is where BullMQ keeps whether
 * the queue is paused.
 */
export async function takeImmediateTows(blocking: Redis, queueKey: string): Promise<readonly string[]> {
  const replies = await repliesOf(
    blocking
      .pipeline()
      .blpop(KEYS.immediateTows, BLOCKED_S)
      // What came with the first, or waited before it.
      .lpop(KEYS.immediateTows, TAKEN_AT_ONCE_MAX)
      .hexists(queueKey, 'paused'),
  );
  const [first, others, isPaused] = replies;
  if (isPaused) return [];
  const popped = first === null ? [] : texts(first, 'blpop').slice(1);
  return [...popped, ...(others === null ? [] : texts(others, 'lpop'))];
}
