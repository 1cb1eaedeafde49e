import { createOperator } from '../operator';
import { errorFacts } from '../platform/log';
import { LISTENER_GRACE_MS, listen, type Listener } from '../platform/http';
import { QUEUE_NAMES } from '../queue/queues';
import { createAnswerStore } from '../store/answers';
import { createApiKeyStore } from '../store/api-keys';
import { createAuditStore } from '../store/audit';
import { createConservationStore } from '../store/conservation';
import { createDeliveryStore } from '../store/deliveries';
import { subscribeToEvents } from '../store/events';
import { createSendingStore } from '../store/sending';
import { createTaskStore } from '../store/tasks';
import { createTowStore } from '../store/tows';
import type { Foundation } from './foundation';
import { healthOf } from './health';

/** Starts the operator API and the queue pages. */
export async function startConsole(foundation: Foundation): Promise<Listener> {
  const { config, clock, log, metrics, resources, redis, queues, wake } = foundation;
  const operator = createOperator({
    progress: { tows: createTowStore(redis), wake, clock, rules: config.rules },
    deliveries: createDeliveryStore(redis),
    tasks: createTaskStore(redis),
    sending: createSendingStore(redis, config.budgetsPerMinute),
    keys: createApiKeyStore(redis),
    audit: createAuditStore(redis),
    answers: createAnswerStore(redis),
    queues: QUEUE_NAMES.map((name) => ({ queue: queues.byName[name], backlog: () => foundation.backlogOf(name) })),
    conservation: createConservationStore(redis),
    bootstrapApiKey: config.bootstrapApiKey,
    clock,
    log,
    metrics,
  });
  if (config.bootstrapApiKey === null) {
    log.warn('console.no_bootstrap_key', {
      problem: 'BOOTSTRAP_API_KEY is not set: only keys made before can be used',
    });
  }
  subscribeToEvents(foundation.patient(), (event) => operator.publish(event)).catch((error: unknown) => {
    log.error('events.failed', errorFacts(error));
  });
  const listener = await listen(operator.app, healthOf(foundation), config.console);
  resources.add('console', listener, async (opened) => {
    operator.close();
    await opened.stop(Math.min(config.stopGraceMs, LISTENER_GRACE_MS));
  });
  log.info('console.listening', { host: listener.host, port: listener.port });
  return listener;
}
