import { createOperator, createSignIn, type Operator, type OperatorOptions } from '../operator';
import { QUEUE_NAMES } from '../queue/queues';
import { createAnswerStore } from '../store/answers';
import { createApiKeyStore } from '../store/api-keys';
import { createAuditStore } from '../store/audit';
import { createConservationStore } from '../store/conservation';
import { createDeliveryStore } from '../store/deliveries';
import { createSendingStore } from '../store/sending';
import { createRecordStore } from '../store/record-store';
import { createTaskStore } from '../store/tasks';
import { createTowStore } from '../store/tows';
import { createViolationStore } from '../store/violations';
import { createWrongKeyStore } from '../store/wrong-keys';
import type { SignIn } from '../workflow/operator-port';
import type { Foundation } from './foundation';
import { openConsoleLookups } from './lookups';

/** The keys of the API as a way in, for the API and for people: made once per process. */
export function openSignIn({ config, clock, log, metrics, redis }: Foundation): SignIn {
  return createSignIn({
    keys: createApiKeyStore(redis),
    wrongKeys: createWrongKeyStore(redis),
    bootstrapApiKey: config.bootstrapApiKey,
    clock,
    log,
    metrics,
  });
}

/** Puts the operator API together; nothing listens yet. */
export function openOperator(
  foundation: Foundation,
  access: Pick<OperatorOptions, 'signIn' | 'sessionActor'>,
): Operator {
  const { config, clock, log, metrics, redis, queues, wake } = foundation;
  return createOperator({
    ...access,
    progress: { records: createRecordStore(redis), tows: createTowStore(redis), wake, clock, rules: config.rules },
    violations: createViolationStore(redis),
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
    openPaths: config.openPaths,
    trustProxy: config.trustProxy,
    clock,
    log,
    metrics,
  });
}
