import type { Redis } from 'ioredis';
import { repliesOf } from './batch-reads';
import type { Effect } from './commit';
import { KEYS } from './keys';
import { texts } from './parse';

/**
 * Tows whose reports a person has just made due, and deliveries that came alone (lua/accept.lua). A worker takes them from
 * their list and begins at once, which saves the round trips of a scheduler and of a job. A list may lose its members:
 * they stay in their schedule, and a scheduler adds a job within its interval.
 */

/** While no worker runs a list only grows. Older members than these are dropped. */
export const IMMEDIATE_MAX = 1000;
const TAKEN_AT_ONCE_MAX = 100;
const BLOCKED_S = 5;

/** The effects that hand a tow to a worker. */
export function immediateEffects(ref: string): Effect[] {
  return [
    ['RPUSH', KEYS.immediateTows, ref],
    ['LTRIM', KEYS.immediateTows, -IMMEDIATE_MAX, -1],
  ];
}

/** A list and its queue; `queueKey` is where BullMQ keeps whether the queue is paused. */
export interface ImmediateList {
  readonly listKey: string;
  readonly queueKey: string;
}

/**
 * Waits up to 5 s for members and takes them from the list; returns none of them while its queue is paused. `blocking` is
 * a connection of its own, as other commands on it would wait too.
 */
export async function takeImmediate(blocking: Redis, { listKey, queueKey }: ImmediateList): Promise<readonly string[]> {
  const replies = await repliesOf(
    blocking
      .pipeline()
      .blpop(listKey, BLOCKED_S)
      // What came with the first, or waited before it.
      .lpop(listKey, TAKEN_AT_ONCE_MAX)
      .hexists(queueKey, 'paused'),
  );
  const [first, others, isPaused] = replies;
  if (isPaused) return [];
  const popped = first === null ? [] : texts(first, 'blpop').slice(1);
  return [...popped, ...(others === null ? [] : texts(others, 'lpop'))];
}
