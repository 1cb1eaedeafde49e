import type { Redis } from 'ioredis';
import type { NewTask } from '../domain/tasks';
import type { Check, Effect } from './commit';
import { taskEffects, taskTexts, type TaskTexts } from './indexes';
import { KEYS } from './keys';
import { taskOf } from './parse';
import { groupNameOf } from './task-groups';

/** How tasks of the whole operator, which belong to no record, are opened and closed. Their id is their subject. */

/** What opens or closes a task, to be part of a commit. The check `task` fails when another process was faster. */
export interface TaskChange {
  readonly checks: readonly Check[];
  readonly effects: readonly Effect[];
}

/** What opens a task; null when it is open. An open task is not changed. */
export async function openingOf(
  redis: Redis,
  { subject, ...task }: NewTask,
  nowMs: number,
): Promise<TaskChange | null> {
  if ((await redis.hget(KEYS.tasks, subject)) !== null) return null;
  const effects = taskEffects({}, taskTexts({ [subject]: { task, openedAtMs: nowMs } }, {}));
  return { checks: [isStill(subject, '')], effects: [...effects, eventOf('task.opened', nowMs)] };
}

/** What closes a task; null when it is not open. */
export async function closingOf(redis: Redis, id: string, nowMs: number): Promise<TaskChange | null> {
  const json = await redis.hget(KEYS.tasks, id);
  if (json === null) return null;
  const before: TaskTexts = { [id]: { json, openedAtMs: 0, group: groupNameOf(taskOf(json, '0')) } };
  return { checks: [isStill(id, json)], effects: [...taskEffects(before, {}), eventOf('task.closed', nowMs)] };
}

function isStill(id: string, json: string): Check {
  return { key: KEYS.tasks, field: id, value: json, name: 'task' };
}

function eventOf(type: 'task.opened' | 'task.closed', atMs: number): Effect {
  return ['PUBLISH', KEYS.events, JSON.stringify({ type, towing_reference_id: null, at_ms: atMs })];
}
