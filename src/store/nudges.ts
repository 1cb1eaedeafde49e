import type { Redis } from 'ioredis';
import { QUEUE_NAMES, type QueueName } from '../domain/vocabulary';
import type { Effect } from './commit';
import { KEYS } from './keys';
import { keepSubscribed, type Subscriber } from './subscription';

/**
 * Nudges: a commit that makes work due now publishes the name of its queue, so that the schedulers of all workers poll
 * at once. A lost nudge delays the work by the interval of a scheduler. A commit that hands its tow to a worker
 * (immediate.ts) nudges no scheduler.
 */

const SCHEDULES: ReadonlyMap<string, QueueName> = new Map<string, QueueName>([
  [KEYS.dueDeliveries, 'deliveries'],
  [KEYS.dueTows, 'reports'],
  [KEYS.dueViolations, 'violations'],
  [KEYS.dueBulk, 'bulk'],
]);

/** A member of a schedule that a commit makes due now. */
export interface DueMember {
  readonly queue: QueueName;
  readonly ref: string;
}

/** The members that the effects of a commit make due now. */
export function dueMembersOf(effects: readonly Effect[], nowMs: number): DueMember[] {
  const due: DueMember[] = [];
  for (const [command, key, score, member] of effects) {
    if (command !== 'ZADD' || Number(score) > nowMs) continue;
    const queue = SCHEDULES.get(key);
    if (queue !== undefined) due.push({ queue, ref: String(member) });
  }
  return due;
}

export function nudgesOf(due: readonly DueMember[]): Effect[] {
  return [...new Set(due.map(({ queue }) => queue))].map((queue) => ['PUBLISH', KEYS.nudges, queue]);
}

/** Calls the listener with the queue of each nudge; see keepSubscribed. Ignores a queue that only a later version has. */
export function onNudges(
  connection: Redis,
  listener: (queue: QueueName) => void,
  refused?: Subscriber['refused'],
): Promise<void> {
  return keepSubscribed(connection, [KEYS.nudges, KEYS.accepted], {
    message(channel, message) {
      const queue = channel === KEYS.accepted ? 'deliveries' : QUEUE_NAMES.find((known) => known === message);
      if (queue !== undefined) listener(queue);
    },
    refused,
  });
}
