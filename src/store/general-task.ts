import type { Redis } from 'ioredis';
import type { NewTask } from '../domain/tasks';
import { recordsOf } from './records';
import { closingOf, openingOf, type TaskChange } from './task-changes';

/** Opens and closes tasks of the whole operator, each in a commit of its own. */

/** Opens a task unless it is open; resolves with whether it opened it. */
export async function openGeneralTask(redis: Redis, task: NewTask): Promise<boolean> {
  return change(redis, async (nowMs) => openingOf(redis, task, nowMs));
}

/** Closes a task if it is open; resolves with whether it closed it. */
export async function closeGeneralTask(redis: Redis, id: string): Promise<boolean> {
  return change(redis, async (nowMs) => closingOf(redis, id, nowMs));
}

/** When another process was faster, it did the same. */
async function change(redis: Redis, changeAt: (nowMs: number) => Promise<TaskChange | null>): Promise<boolean> {
  const records = recordsOf(redis);
  const taskChange = await changeAt(await records.nowMs());
  if (!taskChange) return false;
  return (await records.commit({ records: [], ...taskChange })).kind === 'done';
}
