import { errorFacts, type Log } from '../platform/log';
import type { Wake } from '../workflow/ports';
import type { Queues, WakeUp } from './queues';

/** Wakes workers without making anybody wait; a wake-up that fails is left to the due mark. */
export function createWake(queues: Queues, log: Log): Wake {
  const wake = (wakeUp: WakeUp) => {
    queues.wake([wakeUp]).catch((error: unknown) => {
      log.debug('wake.failed', { queue: wakeUp.queue, ...errorFacts(error) });
    });
  };
  return {
    delivery: (id) => wake({ queue: 'deliveries', ref: id }),
    tow: (ref) => wake({ queue: 'reports', ref }),
    violation: (id) => wake({ queue: 'violations', ref: id }),
  };
}
