import { createConsole, createSessions, type Sessions, type SignInWays } from '../console';
import { QUEUE_NAMES } from '../domain/vocabulary';
import { createOperator, createSignIn, type Operator, type OperatorTools } from '../operator';
import { serviceAccess } from '../platform/config/config';
import { listen, REQUEST_MS, type Listener } from '../platform/http';
import { readQueueView } from '../queue/queues';
import { within } from '../platform/timers';
import { callAddresses } from '../service/addresses';
import { INCOMING_MAX_MS } from '../spool/sweep';
import { createAnswerStore } from '../store/redis/answers';
import { createApiKeyStore } from '../store/person/api-keys';
import { createAuditStore } from '../store/ops/audit';
import { outboxRateLimits } from '../store/service/budgets';
import { createConservationStore } from '../store/ops/conservation';
import { createDeliveryStore } from '../store/webhook/deliveries';
import { createDifferenceStore } from '../store/service/differences';
import { createImageReferences } from '../store/violation/kept-images';
import { createSubscriptionStore } from '../store/ops/subscriptions';
import { createMetricsStore } from '../store/ops/metrics';
import { recordsOf } from '../store/outbox/records';
import { createSeenServiceStore } from '../store/service/seen-service';
import { createRefusedCallStore } from '../store/webhook/webhook-answers';
import { createSendingStore } from '../store/service/sending';
import { createSessionStore } from '../store/person/sessions';
import { createWithheldStore } from '../store/outbox/withheld';
import { createRunStore } from '../store/ops/runs';
import { createTaskStore } from '../store/ops/tasks';
import { createTowStore } from '../store/tow/tows';
import { createViolationStore } from '../store/violation/violations';
import { createFormLimit, createWrongKeyLimit, createSignInLimit } from '../store/person/source-limits';
import type { IdentityProvider } from '../workflow/identity-port';
import type { SignIn } from '../workflow/operator-port';
import type { Foundation } from './foundation';
import { addListener, healthOf, listenerEvents, recentSpoolCheck } from './health';
import { modeCheck } from './mode';
import { openNotifications } from './notifications';
import { openConsoleLookups } from './service';
import { openSubscriber } from './subscriptions';
import type * as oidcModule from '../oidc';
import { throttledLog } from '../platform/log/log-throttle';
import { openProviderAgents } from '../service/outbound';

/** A console does not need the address of the service; shown where it would be. */
const UNKNOWN_BASE = 'http://service-base-url-not-set';

/** A phone with a bad connection: 0.2 Mbit/s. */
const SLOW_PHONE_BYTES_PER_MS = 25;
/** Below the age at which the spool removes an upload. */
const UPLOAD_MAX_MS = 0.9 * INCOMING_MAX_MS;

/** How long a stop waits for the sweep, whose disk may hang. */
const SWEEP_STOP_MS = 2000;

/** How long a request may take, in whole ms: as long as the largest upload takes from a slow phone. */
function requestLimitMs(imagesTotalBytesMax: number): number {
  const uploadMs = Math.ceil(imagesTotalBytesMax / SLOW_PHONE_BYTES_PER_MS);
  return Math.min(Math.max(REQUEST_MS, uploadMs), UPLOAD_MAX_MS);
}

/** Starts the console: its pages, the operator API and the queue pages. */
export async function startConsole(foundation: Foundation): Promise<Listener> {
  const { config, clock, log, resources, redis, spool } = foundation;
  const signIn = openSignIn(foundation);
  const provider = openIdentityProvider(foundation);
  const { withKeys, oidc } = config.signIn;
  const ways: SignInWays = { keys: withKeys, provider: oidc && { roleClaim: oidc.roleClaim } };
  const sessions = createSessions({ store: createSessionStore(redis), signIn, clock, ways });
  const operator = openOperator(foundation, {
    signIn,
    sessionActor: (request) => sessions.readerOf(request),
  });
  const pages = openPages(foundation, { operator, signIn, sessions, ways, provider });
  if (config.bootstrapApiKey === null) {
    log.warn('console.no_bootstrap_key', {
      problem: 'BOOTSTRAP_API_KEY is not set: only keys that exist already can be used',
    });
  }
  const sweeping = spool.startSweeping(createImageReferences(redis));
  resources.add('spool sweep', sweeping, (opened) => within(SWEEP_STOP_MS, opened.stop()));
  // The metrics of the console need a key, so the application serves them.
  const { ready } = healthOf(foundation, modeCheck(foundation), recentSpoolCheck(foundation));
  const requestMs = requestLimitMs(config.images.totalBytesMax);
  const listener = await listen(pages, { ready }, config.console, { requestMs }, listenerEvents(foundation, 'console'));
  addListener(foundation, 'console', listener, () => operator.close());
  log.info('console.listening', { host: listener.host, port: listener.port });
  return listener;
}

/** Opens the sign-in with API keys, which the API and the pages share. */
export function openSignIn({ config, clock, log, metrics, redis }: Foundation): SignIn {
  return createSignIn({
    keys: createApiKeyStore(redis),
    wrongKeys: createWrongKeyLimit(redis),
    bootstrapApiKey: config.bootstrapApiKey,
    clock,
    log,
    metrics,
  });
}

/** Composes the operator API without a listener. */
export function openOperator(foundation: Foundation, access: Pick<OperatorTools, 'signIn' | 'sessionActor'>): Operator {
  const { config, clock, log, metrics, redis, queues } = foundation;
  const limits = outboxRateLimits(config.budgetsPerMinute);
  const addressOf = callAddresses(config.service.baseUrl ?? UNKNOWN_BASE, config.service.paths);
  return createOperator({
    ...access,
    records: recordsOf(redis),
    tows: createTowStore(redis, limits.tow),
    rules: config.rules,
    violations: createViolationStore(redis, limits.violation),
    violationApi: config.violations.api,
    spool: foundation.spool,
    imagesTotalBytesMax: config.images.totalBytesMax,
    deliveries: createDeliveryStore(redis),
    refusedCalls: createRefusedCallStore(redis),
    tasks: createTaskStore(redis),
    differences: createDifferenceStore(redis),
    seenService: createSeenServiceStore(redis),
    runs: createRunStore(redis),
    sending: createSendingStore(redis, config.budgetsPerMinute),
    // Opened before the listener, so that it is closed after the last request has ended.
    lookups: openConsoleLookups(foundation),
    withheld: createWithheldStore(redis),
    mode: foundation.mode.tools,
    addressOf: (operation) => addressOf(operation).url,
    keys: createApiKeyStore(redis),
    audit: createAuditStore(redis),
    answers: createAnswerStore(redis),
    queues: QUEUE_NAMES.map((name) => ({
      queue: queues.byName[name],
      view: () => readQueueView(queues, foundation.backlogOf, name),
    })),
    conservation: createConservationStore(redis),
    notifications: openNotifications(foundation),
    changes: foundation.changes(),
    subscriptions: createSubscriptionStore(redis),
    ...openSubscriber(foundation),
    openPaths: config.openPaths,
    trustProxy: config.trustProxy,
    publicPath: config.signIn.publicPath,
    clock,
    log,
    metrics,
    tracing: foundation.tracing,
  });
}

/** How people sign in. */
interface ProviderAccess {
  readonly ways: SignInWays;
  readonly provider: IdentityProvider | null;
}

/** Composes the pages of the console in front of the operator API, without a listener. */
function openPages(
  foundation: Foundation,
  { operator, ...access }: { operator: Operator; signIn: SignIn; sessions: Sessions } & ProviderAccess,
) {
  const { config, clock, log, metrics, redis } = foundation;
  const limits = outboxRateLimits(config.budgetsPerMinute);
  return createConsole({
    api: operator.api,
    progress: { tows: createTowStore(redis, limits.tow), rules: config.rules },
    settings: {
      violationApi: config.violations.api,
      images: config.images,
      isServiceConfigured: serviceAccess(config) !== null,
    },
    ops: { state: foundation.opsState, figures: createMetricsStore(redis) },
    ...access,
    formLimit: createFormLimit(),
    trustProxy: config.trustProxy,
    publicPath: config.signIn.publicPath,
    proxyNote: foundation.proxyNote,
    clock,
    log,
    metrics,
    fallback: { serve: operator.app, paths: ['/api', '/docs', '/metrics', '/openapi.json', '/queues'] },
  });
}

/** The library is loaded only where people sign in through a provider. */
declare const require: (module: '../oidc') => typeof oidcModule;

/**
 * Opens the identity provider; null without one. It is not called before a person signs in.
 * @throws ConfigurationError when a file of certificates cannot be used.
 */
function openIdentityProvider({ config, clock, log, redis }: Foundation): IdentityProvider | null {
  const { oidc } = config.signIn;
  if (oidc === null) return null;
  const agents = openProviderAgents(oidc.outbound);
  const limit = createSignInLimit(redis);
  const tools = { agents, clock, limit, log: throttledLog(log, { clock, by: ['problem'] }) };
  return require('../oidc').createIdentityProvider(oidc, tools);
}
