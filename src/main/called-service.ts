import { requireService } from '../platform/config/config';
import { repeat, within } from '../platform/timers';
import { accessDigests } from '../service/access-digest';
import { createProcessStore } from '../store/ops/processes';
import { serviceDifference, workersDiffer } from '../workflow/service/called-service';
import type { Foundation } from './foundation';

const EVERY_MS = 5000;
/** A heartbeat that is not stored by then does not keep the worker from its first look. */
const ANNOUNCED_WITHIN_MS = 5000;

/** Whether another worker calls a different service than this one. */
export interface CalledServiceWatch {
  /** As of the last look that Redis answered while the other workers were known; true before the first one. */
  isContradicted(): Promise<boolean>;
  stop(): Promise<void>;
}

/**
 * Compares the service that this worker calls with that of the other workers, at first and every 5 s. While they differ,
 * no worker makes a call. A worker that stops counts no longer; one that was killed counts until its heartbeat expires.
 * `announced` resolves when others see this worker: of two that start at once, the second to look sees the first.
 */
export function watchCalledService(
  { config, redis, heartbeatGaps, troubleLog: log }: Foundation,
  announced: Promise<void>,
): CalledServiceWatch {
  const own = accessDigests(requireService(config));
  const store = createProcessStore(redis);
  let isContradicted: boolean | null = null;
  const look = async () => {
    const processes = await store.list();
    const isDifferent = workersDiffer(processes, own);
    // The first look decides in any case: a worker that starts while Redis is away must not wait for the others.
    if (isDifferent || isContradicted === null || heartbeatGaps.areOthersKnown()) isContradicted = isDifferent;
    if (isDifferent) {
      const problem =
        'workers on this Redis differ in the service that they call: nothing is sent until all agree or the other worker has ended';
      log.error('service.contradicted', { ...serviceDifference(processes), problem });
    }
  };
  const first = within(ANNOUNCED_WITHIN_MS, announced)
    .then(look)
    .catch(() => {});
  const repetition = repeat({
    name: 'called_service',
    everyMs: EVERY_MS,
    firstAfterMs: EVERY_MS,
    log,
    work: look,
  });
  return {
    async isContradicted() {
      await first;
      return isContradicted ?? true;
    },
    stop: () => repetition.stop(),
  };
}
