import { QUEUE_NAMES, type QueueName } from '../../domain/vocabulary';
import type { Effect } from '../redis/commit';
import { KEYS } from '../keys';

/**
 * The hand-off to the workers. What a write makes due now gets a job in the same tick, on the connection of the write, so
 * that Redis adds the job right after it. Its place in the schedule is put off by PUT_OFF_MS: the scheduler adds a job
 * again for what is not done by then. A job that finds nothing to do is no fault.
 */

/** Adds jobs for records that are due now. Never throws; a job that cannot be added is left to the scheduler. */
export type Wake = (queue: QueueName, refs: readonly string[]) => void;

/** How long a record that has a job is left to it, ms. */
export const PUT_OFF_MS = 10_000;

const SCHEDULES: ReadonlyMap<string, QueueName> = new Map<string, QueueName>([
  [KEYS.dueDeliveries, 'deliveries'],
  [KEYS.dueTows, 'reports'],
  [KEYS.dueViolations, 'violations'],
  [KEYS.dueRuns, 'runs'],
  [KEYS.dueSubscriptions, 'subscriptions'],
]);

/** A member of a schedule that a write makes due now. */
export interface DueMember {
  readonly queue: QueueName;
  readonly ref: string;
}

/** The members that the effects make due by `nowMs`, and the effects with those members put off. */
export function putOffDue(
  effects: readonly Effect[],
  nowMs: number,
): { readonly due: readonly DueMember[]; readonly effects: readonly Effect[] } {
  const due: DueMember[] = [];
  const putOff = effects.map((effect): Effect => {
    const [command, key, score, member] = effect;
    const queue = command === 'ZADD' && Number(score) <= nowMs ? SCHEDULES.get(key) : undefined;
    if (queue === undefined || member === undefined) return effect;
    due.push({ queue, ref: String(member) });
    return ['ZADD', key, nowMs + PUT_OFF_MS, member];
  });
  return { due, effects: putOff };
}

/** Adds the jobs of all these members. */
export function wakeAll(wake: Wake, due: readonly DueMember[]): void {
  for (const queue of QUEUE_NAMES) {
    const refs = due.filter((member) => member.queue === queue).map(({ ref }) => ref);
    if (refs.length > 0) wake(queue, [...new Set(refs)]);
  }
}
