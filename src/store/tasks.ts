import type { Redis } from 'ioredis';
import type { Task } from '../contracts/records';
import type { TaskStore } from '../workflow/ports';
import { KEYS, towKeys } from './keys';
import { newestFirst } from './list-tows';
import { taskOf } from './parse';
import { savedOf } from './saved';
import { Script } from './scripts';

const resolveTask = new Script('resolve-task');

/** What people must decide. Tasks are opened by the scripts that find them necessary, never here. */
export function createTaskStore(redis: Redis): TaskStore {
  const read = async (id: string): Promise<Task | null> => {
    const json = await redis.hget(KEYS.tasks, id);
    return json === null ? null : taskOf(json);
  };
  return {
    read,

    async list(page) {
      const { refs: ids, nextCursor } = await newestFirst(redis, KEYS.openTasks, page);
      const items = await Promise.all(ids.map(read));
      return { items: items.filter((item) => item !== null), nextCursor };
    },

    async resolve(task, { by, reason, remember }) {
      const ref = task.towing_reference_id ?? '';
      const entry = JSON.stringify({ type: 'task.resolved', task_type: task.type, by, reason }).toWellFormed();
      const keys = towKeys(ref, remember ? { idempotencyScope: remember.scope } : {});
      const reply = await resolveTask.run(redis, keys, [
        ref,
        task.id,
        entry,
        remember?.fingerprint ?? '',
        remember?.answer ?? '',
      ]);
      return savedOf(reply, 'resolve-task');
    },
  };
}
