import type { Redis } from 'ioredis';
import type { NewTask } from '../domain/tasks';
import type { Check, CommitPart } from './commit';
import { eventEffect } from './events';
import { KEYS, taskGroupKey, taskGroupsKey } from './keys';
import { taskEffects, taskTexts, type TaskTexts } from './task-effects';

/**
 * Opens and closes general tasks: tasks of the whole operator, which belong to no record. Their id is their subject.
 */

/** Opens a task; null when it is open. An open task is not changed. */
export async function openingOf(
  redis: Redis,
  { subject, ...task }: NewTask,
  nowMs: number,
): Promise<CommitPart | null> {
  if ((await redis.hget(KEYS.tasks, subject)) !== null) return null;
  const effects = taskEffects({}, taskTexts({ [subject]: { task, openedAtMs: nowMs } }, {}));
  return {
    checks: [isStill(subject, '')],
    effects: [...effects, eventEffect({ type: 'task.opened' }, nowMs)],
  };
}

/** Closes a task; null when it is not open. */
export async function closingOf(redis: Redis, id: string, nowMs: number): Promise<CommitPart | null> {
  // As bytes, which are not opened: the commit compares the stored text.
  const stored = (await redis.hgetBuffer(KEYS.tasks, id))?.toString();
  if (stored === undefined) return null;
  const before: TaskTexts = { [id]: { json: stored, openedAtMs: 0, group: await groupListing(redis, id) } };
  return {
    checks: [isStill(id, stored)],
    effects: [...taskEffects(before, {}), eventEffect({ type: 'task.closed' }, nowMs)],
  };
}

/** The group that lists an open task. It is not taken from the text, which may be damaged or of a later version. */
async function groupListing(redis: Redis, id: string): Promise<string> {
  const names = await redis.zrange(taskGroupsKey, '0', '-1');
  const places = await Promise.all(names.map((name) => redis.zscore(taskGroupKey(name), id)));
  return names.find((_, at) => places[at] !== null) ?? '';
}

function isStill(id: string, stored: string): Check {
  return { key: KEYS.tasks, field: id, value: stored };
}
