import { decideTasks, type DecideTasksTools } from '../../jobs/decide-tasks';
import { bulkJob } from '../contracts/jobs';
import type { Actor } from '../domain/audit';
import { BOOTSTRAP, createDecisionApi } from '../operator';
import type { Handler } from '../queue/workers';
import { createAnswerStore } from '../store/answers';
import { createApiKeyStore } from '../store/api-keys';
import { createBulkStore } from '../store/bulk';
import { createRecordStore } from '../store/record-store';
import { createTaskStore } from '../store/tasks';
import { createTowStore } from '../store/tows';
import { createViolationStore } from '../store/violations';
import { createBulk, type Bulk } from '../workflow/bulk';
import type { Foundation } from './foundation';

/** Bulk decisions as the console starts and shows them. */
export function openBulk({ clock, redis, wake }: Foundation): Bulk {
  return createBulk({ store: createBulkStore(redis, clock), tasks: createTaskStore(redis), wake, clock });
}

/** Carries out bulk decisions in a worker. */
export function openBulkHandler(foundation: Foundation): Handler {
  const tools = openBulkTools(foundation);
  return async (payload) => decideTasks(bulkJob.parse(payload), tools);
}

/** What carrying out bulk decisions needs. They are made through the operator API of the same process. */
export function openBulkTools({ config, clock, log, troubleLog, redis, spool, wake }: Foundation): DecideTasksTools {
  const tasks = createTaskStore(redis);
  const keys = createApiKeyStore(redis);
  const api = createDecisionApi({
    progress: { records: createRecordStore(redis), tows: createTowStore(redis), wake, clock, rules: config.rules },
    violations: createViolationStore(redis),
    answers: createAnswerStore(redis),
    tasks,
    spool,
    clock,
    log: troubleLog,
  });
  const holder = async ({ id, ...actor }: Actor): Promise<Actor | null> => {
    // The configured key is no record, and a worker does not need to have it configured.
    if (id === BOOTSTRAP) return { id, ...actor };
    const key = await keys.read(id);
    return key && { id, name: key.name, role: key.role };
  };
  return { store: createBulkStore(redis, clock), api, tasks, holder, clock, log };
}
