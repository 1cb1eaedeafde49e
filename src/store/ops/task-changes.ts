import type { Redis } from 'ioredis';
import type { NewTask } from '../../domain/ops/tasks';
import type { Check, CommitPart } from '../redis/commit';
import { general } from '../../domain/ops/changes';
import { changeEffect } from './changes';
import { KEYS, taskGroupKey, taskGroupsKey } from '../keys';
import { groupOf, taskEffects, taskTexts, type TaskTexts } from './task-effects';

/**
 * Opens and closes general tasks: tasks of the whole operator, which belong to no record. Their id is their subject.
 */

/** Opens a task; null when it is open. An open task is not changed. */
export async function openingOf(redis: Redis, task: NewTask, nowMs: number): Promise<CommitPart | null> {
  return (await storedTextOf(redis, task.subject)) === null ? newTask(task, nowMs) : null;
}

/** Opens a task unless it is open. The commit is stale when the task is closed meanwhile. */
export async function keepingOpen(redis: Redis, task: NewTask, nowMs: number): Promise<CommitPart> {
  const stored = await storedTextOf(redis, task.subject);
  return stored === null ? newTask(task, nowMs) : { checks: [isStill(task.subject, stored)], effects: [] };
}

function newTask({ subject, ...task }: NewTask, nowMs: number): CommitPart {
  const effects = taskEffects({}, taskTexts({ [subject]: { task, openedAtMs: nowMs } }, {}));
  return {
    checks: [isStill(subject, '')],
    effects: [...effects, changeEffect(general('task.opened', { task: task.type, task_id: subject }))],
  };
}

/** Closes a task; null when it is not open. */
export async function closingOf(redis: Redis, id: string): Promise<CommitPart | null> {
  const stored = await storedTextOf(redis, id);
  if (stored === null) return null;
  const group = await groupListing(redis, id);
  const before: TaskTexts = { [id]: { json: stored, openedAtMs: 0, group } };
  return {
    checks: [isStill(id, stored)],
    effects: [
      ...taskEffects(before, {}),
      changeEffect(general('task.closed', { task: groupOf(group).type, task_id: id })),
    ],
  };
}

/** Read as bytes, which are not opened: the commit compares the stored text. Null when the task is not open. */
async function storedTextOf(redis: Redis, id: string): Promise<string | null> {
  return (await redis.hgetBuffer(KEYS.tasks, id))?.toString() ?? null;
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
