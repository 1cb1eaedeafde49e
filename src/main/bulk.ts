import { decideTasks, type DecideTasksTools } from '../../jobs/decide-tasks';
import { bulkJob } from '../contracts/jobs';
import { isPerson, type Actor } from '../domain/audit';
import { BOOTSTRAP, createDecisionApi } from '../operator';
import type { JobHandler } from '../queue/workers';
import { createAnswerStore } from '../store/answers';
import { createApiKeyStore } from '../store/api-keys';
import { createBulkStore } from '../store/bulk';
import { recordsOf } from '../store/records';
import { createTaskStore } from '../store/tasks';
import { createTowStore } from '../store/tows';
import { createViolationStore } from '../store/violations';
import { createBulk, type Bulk } from '../workflow/bulk';
import type { Foundation } from './foundation';

/** Opens bulk decisions for the console, which starts and shows them. */
export function openBulk({ clock, redis }: Foundation): Bulk {
  return createBulk({ store: createBulkStore(redis), tasks: createTaskStore(redis), clock });
}

/** Opens the job handler that makes bulk decisions. */
export function openBulkHandler(foundation: Foundation): JobHandler {
  const tools = openBulkTools(foundation);
  return async (payload) => decideTasks(bulkJob.parse(payload), tools);
}

/** Opens the tools of that handler. Decisions go through the operator API of the same process. */
export function openBulkTools({ config, clock, log, troubleLog, redis, spool }: Foundation): DecideTasksTools {
  const tasks = createTaskStore(redis);
  const keys = createApiKeyStore(redis);
  const api = createDecisionApi({
    progress: {
      records: recordsOf(redis),
      tows: createTowStore(redis),
      clock,
      rules: config.rules,
      mode: config.service.mode,
    },
    violations: createViolationStore(redis),
    answers: createAnswerStore(redis),
    tasks,
    spool,
    imagesTotalBytesMax: config.images.totalBytesMax,
    clock,
    log: troubleLog,
  });
  const holder = async ({ id, ...actor }: Actor): Promise<Actor | null> => {
    // The bootstrap key has no record, and a worker may run without its variable. A person keeps the role of the sign-in.
    if (id === BOOTSTRAP || isPerson({ id })) return { id, ...actor };
    const key = await keys.read(id);
    return key && { id, name: key.name, role: key.role };
  };
  return { store: createBulkStore(redis), api, tasks, holder, clock, log };
}
