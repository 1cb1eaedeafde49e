import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import type { StoreEvent } from '../contracts/outbox/records';
import type { ViolationApi } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import type { TrustProxy } from '../platform/config/config';
import type { Log } from '../platform/log/log';
import { throttledLog } from '../platform/log/log-throttle';
import type { Metrics } from '../platform/log/metrics';
import type { Tracing } from '../platform/log/tracing';
import type {
  AnswerStore,
  ApiKeyStore,
  AuditStore,
  DeliveryStore,
  DifferenceStore,
  SendingStore,
  TaskStore,
  ViolationStore,
} from '../workflow/ports';
import type { ConservationStore } from '../workflow/ops/conservation';
import type { RunTools } from '../workflow/run/runs';
import type { Lookups } from '../workflow/service/lookups';
import type { NotificationTools } from '../workflow/ops/notifications';
import type { AddressOf, ShadowStore } from '../workflow/outbox/shadow-list';
import type { SeenServiceStore } from '../workflow/service/service-view';
import type { RefusedCallStore } from '../workflow/webhook/webhook-port';
import type { Spool } from '../workflow/ops/spool-port';
import type { OperatorApi, SignIn } from '../workflow/operator-port';
import { serveApiKeys } from './ops/api-keys';
import { createApiServer } from './api-server';
import { createAuthenticator, type SessionActor } from './authenticate';
import { serveDifferences } from './ops/operations';
import { serveDispatch, servePhotos } from './tow/dispatch';
import { serveDocs } from './docs';
import { EVENTS_ROUTE, serveEvents } from './ops/events';
import { protectPaths, type OpenPath } from './authenticate';
import { createOperatorApi } from './in-process';
import { serveLookups } from './ops/lookups';
import { mountEndpoints, refuseUnknown } from './mount';
import { serveNotifications } from './ops/operations';
import { serveOperations } from './ops/operations';
import { mountQueuePages, serveQueues, type WatchedQueue } from './ops/queues';
import { answerError, routeOf } from './send-response';
import { serveRuns } from './ops/tasks';
import { refusalOfCalls, serveShadow } from './ops/shadow';
import { serveTasks } from './ops/tasks';
import { serveTows, type TowRouteTools } from './tow/tows';
import { serveViolationDecisions } from './violation/violations';
import { serveViolations } from './violation/violations';

export { BOOTSTRAP, createSignIn } from './authenticate';

export interface OperatorOptions {
  readonly progress: TowRouteTools;
  readonly violations: ViolationStore;
  /** The service's API for new violations. */
  readonly violationApi: ViolationApi;
  readonly spool: Spool;
  readonly imagesTotalBytesMax: number;
  readonly deliveries: DeliveryStore;
  readonly refusedCalls: Pick<RefusedCallStore, 'list'>;
  readonly tasks: TaskStore;
  readonly differences: DifferenceStore;
  readonly seenService: SeenServiceStore;
  readonly runs: RunTools;
  readonly sending: SendingStore;
  /** Null when the service is not configured. */
  readonly lookups: Lookups | null;
  readonly shadow: ShadowStore;
  readonly addressOf: AddressOf;
  readonly keys: ApiKeyStore;
  readonly audit: AuditStore;
  readonly answers: AnswerStore;
  readonly queues: readonly WatchedQueue[];
  readonly conservation: Pick<ConservationStore, 'lastScan'>;
  readonly notifications: NotificationTools;
  /** The one sign-in of this process (createSignIn). */
  readonly signIn: SignIn;
  /** Finds the console session of a request. Sessions may read. */
  readonly sessionActor: SessionActor;
  /** Paths that need no API key. */
  readonly openPaths: readonly OpenPath[];
  readonly trustProxy: TrustProxy;
  /** The path of the public address, such as `/towhook`. */
  readonly publicPath: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}

export interface Operator {
  readonly app: Express;
  /** The API for code in this process. */
  readonly api: OperatorApi;
  /** Sends an event to all subscribers of `/api/events`. */
  publish(event: StoreEvent): void;
  /** Tells all subscribers that events may have been lost. */
  missed(): void;
  /** Ends all event streams, so that the listener can close. */
  close(): void;
}

/** The operator API over HTTP and in process, and the pages and documents that share its port. */
export function createOperator(options: OperatorOptions): Operator {
  const app = express();
  const { clock, log } = options;
  const authenticator = createAuthenticator(options.signIn, options.sessionActor);
  app.disable('etag');
  app.set('trust proxy', options.trustProxy);
  app.use(securityHeaders());
  app.use(logRequests(options));
  mountQueuePages(app, options.queues, authenticator);

  const server = createApiServer({
    answers: options.answers,
    spool: options.spool,
    imagesTotalBytesMax: options.imagesTotalBytesMax,
    log: throttledLog(log, { clock }),
    tracing: options.tracing,
    clock,
  });
  const { violations, progress } = options;
  serveTows(server, progress);
  serveDispatch(server, progress);
  servePhotos(server, { ...progress, spool: options.spool });
  const { differences, seenService, deliveries } = options;
  serveDifferences(server, { records: progress.records, differences, seenService });
  serveTasks(server, { ...progress, tasks: options.tasks, violations });
  serveRuns(server, options.runs);
  serveViolations(server, { ...progress, violations, spool: options.spool, api: options.violationApi });
  serveViolationDecisions(server, progress);
  serveLookups(server, { lookups: options.lookups, refusal: () => refusalOfCalls(options.shadow) });
  const { refusedCalls, sending, audit, conservation } = options;
  serveOperations(server, { ...progress, deliveries, differences, refusedCalls, sending, audit, conservation });
  const { shadow, addressOf, tasks } = options;
  serveShadow(server, { ...progress, shadow, addressOf, tasks });
  serveQueues(server, { queues: options.queues, audit });
  serveNotifications(server, { ...options.notifications, clock });
  serveApiKeys(server, { keys: options.keys, clock });
  mountEndpoints(app, server.endpoints, authenticator);
  const events = serveEvents(app, authenticator, { clock });
  protectPaths(app, authenticator, options.openPaths);
  app.get('/metrics', async (_request, response) => {
    const { contentType, text } = await options.metrics.text();
    response.set({ 'content-type': contentType, 'cache-control': 'no-store' }).send(text);
  });
  serveDocs(app);
  app.get('/', (_request, response) => {
    response.json({
      name: 'towhook',
      api: `${options.publicPath}/api/tows`,
      description: `${options.publicPath}/openapi.json`,
      docs: `${options.publicPath}/docs`,
      queues: `${options.publicPath}/queues`,
      metrics: `${options.publicPath}/metrics`,
    });
  });
  refuseUnknown(app, [...server.endpoints.keys(), EVENTS_ROUTE]);
  app.use(answerError(throttledLog(log, { clock })));
  return {
    app,
    api: createOperatorApi(server.endpoints, options.answers),
    publish: (event) => events.publish(event),
    missed: () => events.missed(),
    close: () => events.close(),
  };
}

/** Strict, except for what the queue pages need. */
function securityHeaders(): RequestHandler {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", 'data:'],
        fontSrc: ["'self'", 'data:'],
        connectSrc: ["'self'"],
        workerSrc: ["'self'", 'blob:'],
        baseUri: ["'self'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    // As on the console pages of the same port: other hosts of the domain may have no TLS.
    strictTransportSecurity: false,
  });
}

/**
 * Logs and counts each request when its response closes. A response does not always emit 'finish': not when the client closes
 * the connection with the last byte of a streamed body.
 */
function logRequests({ log, metrics, clock }: OperatorOptions): RequestHandler {
  return (request, response, next) => {
    const startedMs = clock.monotonicMs();
    response.once('close', () => {
      metrics.apiAnswered(request.method, response.statusCode);
      log.debug('api.answered', {
        ...routeOf(request),
        towing_reference_id: request.params?.['towing_reference_id'],
        http_status: response.statusCode,
        duration_ms: Math.round(clock.monotonicMs() - startedMs),
      });
    });
    next();
  };
}
