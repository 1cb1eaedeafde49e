import type { BulkWake } from '../workflow/bulk-port';
import type { Wake } from '../workflow/ports';
import type { QueueName } from './queues';

/**
 * Tells the pollers of all workers that a queue has something due now, without making the caller wait. Best effort: a nudge
 * that is lost costs the interval of a poller. What happens in one turn of the event loop is one nudge.
 */
export function createWake(nudge: (queue: QueueName) => void): Wake & BulkWake {
  const waiting = new Set<QueueName>();
  const wake = (queue: QueueName) => {
    if (waiting.size === 0) {
      setImmediate(() => {
        for (const name of waiting) nudge(name);
        waiting.clear();
      });
    }
    waiting.add(queue);
  };
  return {
    delivery: () => wake('deliveries'),
    tow: () => wake('reports'),
    violation: () => wake('violations'),
    bulk: () => wake('bulk'),
  };
}
