import type { Redis } from 'ioredis';
import type { Task } from '../contracts/records';
import type { TaskStore } from '../workflow/ports';
import { KEYS, violationKeys } from './keys';
import { newestFirst } from './list-tows';
import { taskOf } from './parse';
import { savedOf } from './saved';
import { Script } from './scripts';
import { wellFormedJson } from './well-formed';

const resolveTask = new Script('resolve-task');

/** What people must decide. Tasks are opened by the scripts that find them necessary, never here. */
export function createTaskStore(redis: Redis): TaskStore {
  const read = async (id: string): Promise<Task | null> => {
    const [json, openedAtMs] = await Promise.all([redis.hget(KEYS.tasks, id), redis.zscore(KEYS.openTasks, id)]);
    return json === null || openedAtMs === null ? null : taskOf(json, openedAtMs);
  };
  return {
    read,

    async list(page) {
      const { refs: ids, nextCursor } = await newestFirst(redis, KEYS.openTasks, page);
      const items = await Promise.all(ids.map(read));
      return { items: items.filter((item) => item !== null), nextCursor };
    },

    async resolve(task, { audit, remember }) {
      const ref = task.towing_reference_id ?? '';
      const entry = { type: audit.action, task_type: task.type, by: audit.by, reason: audit.why };
      const violationId = task.violation_id ?? '';
      const keys = violationKeys(violationId, { ref, ...(remember ? { idempotencyScope: remember.scope } : {}) });
      const reply = await resolveTask.run(redis, keys, [
        ref,
        task.id,
        wellFormedJson(entry),
        remember?.fingerprint ?? '',
        remember?.answer ?? '',
        wellFormedJson(audit),
        violationId,
      ]);
      return savedOf(reply, 'resolve-task');
    },
  };
}
