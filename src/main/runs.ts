import { carryOutRun } from '../../jobs/carry-out-run';
import { runJob } from '../contracts/ops/jobs';
import { WEBHOOK_READERS } from '../contracts/webhook/read-webhook';
import { isPerson, type Actor } from '../domain/ops/audit';
import { BOOTSTRAP } from '../operator';
import type { JobHandler } from '../queue/workers';
import { createApiKeyStore } from '../store/person/api-keys';
import { createDeliveryStore } from '../store/webhook/deliveries';
import { createDifferenceStore } from '../store/service/differences';
import { recordsOf } from '../store/outbox/records';
import { createRunStore } from '../store/ops/runs';
import { createTaskStore } from '../store/ops/tasks';
import { isTransient } from '../store/redis/until-answered';
import type { RunTools } from '../workflow/run/runs';
import type { CarryOutRunTools } from '../../jobs/carry-out-run';
import type { Foundation } from './foundation';

/** What the operator API previews, starts and shows runs with. */
export function openRuns({ clock, redis }: Pick<Foundation, 'clock' | 'redis'>): RunTools {
  return {
    runs: createRunStore(redis),
    tasks: createTaskStore(redis),
    deliveries: createDeliveryStore(redis),
    differences: createDifferenceStore(redis),
    readers: WEBHOOK_READERS,
    clock,
  };
}

/** Opens the job handler that carries out runs. */
export function openRunHandler(foundation: Foundation): JobHandler {
  const tools = openRunHandlerTools(foundation);
  return async (payload) => carryOutRun(runJob.parse(payload), tools);
}

export function openRunHandlerTools({ config, clock, log, redis }: Foundation): CarryOutRunTools {
  const keys = createApiKeyStore(redis);
  const holder = async ({ id, ...actor }: Actor): Promise<Actor | null> => {
    // The bootstrap key has no record, and a worker may run without its variable. A person keeps the role of the sign-in.
    if (id === BOOTSTRAP || isPerson({ id })) return { id, ...actor };
    const key = await keys.read(id);
    return key && { id, name: key.name, role: key.role };
  };
  return {
    runs: createRunStore(redis),
    facts: { records: recordsOf(redis), clock, rules: config.rules },
    tasks: createTaskStore(redis),
    readers: WEBHOOK_READERS,
    holder,
    isTransient,
    clock,
    log,
  };
}
