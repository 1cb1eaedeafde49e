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
import { createViolationStore } from '../store/violations';
import type { Foundation } from './foundation';
import { healthOf, spoolCheck } from './health';
import { openConsoleLookups } from './lookups';

/** Starts the operator API and the queue pages. */
export async function startConsole(foundation: Foundation): Promise<Listener> {
  const { config, clock, log, metrics, resources, redis, queues, wake } = foundation;
  const tows = createTowStore(redis);
  const violations = createViolationStore(redis);
  const operator = createOperator({
    progress: { tows, wake, clock, rules: config.rules },
    violations,
    violationApi: config.violations.api,
    spool: foundation.spool,
    deliveries: createDeliveryStore(redis),
    tasks: createTaskStore(redis),
    sending: createSendingStore(redis, config.budgetsPerMinute),
    // Opened before the listener, so that it is closed after the last request has ended.
    lookups: openConsoleLookups(foundation),
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
  const sweeping = foundation.spool.startSweeping({
    violation: async (id) => (await violations.read(id)) !== null,
    photosOf: async (ref) => (await tows.read(ref))?.tow.dispatch.photos.map(({ file }) => file) ?? null,
  });
  resources.add('spool sweep', sweeping, (opened) => opened.stop());
  const listener = await listen(operator.app, healthOf(foundation, spoolCheck(foundation)), config.console);
  resources.add('console', listener, async (opened) => {
    operator.close();
    await opened.stop(Math.min(config.stopGraceMs, LISTENER_GRACE_MS));
  });
  log.info('console.listening', { host: listener.host, port: listener.port });
  return listener;
}
