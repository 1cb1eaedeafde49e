import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import { NO_SUCH_ADDRESS } from '../contracts/common';
import type { StoreEvent } from '../contracts/records';
import type { ViolationApi } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import type { TrustProxy } from '../platform/config';
import type { Log } from '../platform/log';
import { throttledLog } from '../platform/log-throttle';
import type { Metrics } from '../platform/metrics';
import type { AnswerStore, ApiKeyStore, AuditStore, DeliveryStore, SendingStore, TaskStore } from '../workflow/ports';
import type { ConservationStore } from '../workflow/conservation-port';
import type { Lookups } from '../workflow/lookups';
import type { TowTools } from '../workflow/progress';
import type { Spool } from '../workflow/spool-port';
import type { OperatorApi, SignIn } from '../workflow/operator-port';
import type { ViolationStore } from '../workflow/violation-port';
import { serveApiKeys } from './api-keys';
import { serveAudit } from './audit';
import { withSessions, type SessionActor } from './authenticate';
import { closePaths, serveMetrics, type OpenPath } from './closed-paths';
import { serveConservation } from './conservation';
import { serveDeliveries } from './deliveries';
import { serveDocs } from './docs';
import { serveDispatch } from './dispatch';
import { serveEvents } from './events';
import { createOperatorApi } from './in-process';
import { serveLookups } from './lookups';
import { mountEndpoints } from './mount';
import { servePhotos } from './photos';
import { mountQueuePages, serveQueues, type WatchedQueue } from './queues';
import { answerError, routeOf, sendError } from './reply';
import { serveSending } from './sending';
import { createServer } from './serve';
import { serveTasks } from './tasks';
import { serveTows } from './tows';
import { serveViolationDecisions } from './violation-decisions';
import { serveViolations } from './violations';

export { BOOTSTRAP } from './authenticate';
export { createDecisionApi } from './decision-api';
export { createSignIn } from './sign-in';

export interface OperatorOptions {
  readonly progress: TowTools;
  readonly violations: ViolationStore;
  /** Which creation path new violations go by. */
  readonly violationApi: ViolationApi;
  readonly spool: Spool;
  readonly deliveries: DeliveryStore;
  readonly tasks: TaskStore;
  readonly sending: SendingStore;
  /** Null when this console has no access to the service. */
  readonly lookups: Lookups | null;
  readonly keys: ApiKeyStore;
  readonly audit: AuditStore;
  readonly answers: AnswerStore;
  readonly queues: readonly WatchedQueue[];
  readonly conservation: Pick<ConservationStore, 'lastWalk'>;
  /** Shared by all that checks keys in this process (createSignIn). */
  readonly signIn: SignIn;
  /** Who is signed in on the console may read here, too; nobody when left out. */
  readonly sessionActor?: SessionActor;
  /** What may be read without a key. */
  readonly openPaths: readonly OpenPath[];
  readonly trustProxy: TrustProxy;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface Operator {
  /** The API and the queue pages as an Express application. */
  readonly app: Express;
  /** The API for whoever lives in this process. */
  readonly api: OperatorApi;
  /** Hands an event to all who watch. */
  publish(event: StoreEvent): void;
  /** Ends all streams of events, so that the listener can close. */
  close(): void;
}

/** The operator API and the queue pages. */
export function createOperator(options: OperatorOptions): Operator {
  const app = express();
  const { clock, log } = options;
  const authenticator = withSessions(options.signIn, options.sessionActor ?? (() => Promise.resolve(null)));
  app.disable('etag');
  app.set('trust proxy', options.trustProxy);
  app.use(securityHeaders());
  app.use(logRequests(options));
  mountQueuePages(app, options.queues, authenticator);

  const server = createServer({
    answers: options.answers,
    spool: options.spool,
    log: throttledLog(log, { clock }),
  });
  serveTows(server, options.progress);
  serveDispatch(server, options.progress);
  const { violations, progress } = options;
  serveTasks(server, { ...progress, tasks: options.tasks, violations });
  serveViolations(server, { ...progress, violations, spool: options.spool, api: options.violationApi });
  servePhotos(server, { ...progress, spool: options.spool });
  serveViolationDecisions(server, progress);
  serveLookups(server, options.lookups);
  serveSending(server, { ...progress, sending: options.sending });
  serveDeliveries(server, { ...progress, deliveries: options.deliveries });
  serveQueues(server, { queues: options.queues, audit: options.audit });
  serveConservation(server, options.conservation);
  serveApiKeys(server, { keys: options.keys, clock: options.clock });
  serveAudit(server, options.audit);
  mountEndpoints(app, server.endpoints, authenticator);
  const events = serveEvents(app, authenticator, { clock });
  closePaths(app, authenticator, options.openPaths);
  serveMetrics(app, options.metrics);
  serveDocs(app);
  app.get('/', (_request, response) => {
    response.json({
      name: 'towhook',
      api: '/api/tows',
      description: '/openapi.json',
      docs: '/docs',
      queues: '/queues',
      metrics: '/metrics',
    });
  });
  app.use((_request, response) => sendError(response, 404, NO_SUCH_ADDRESS));
  app.use(answerError(throttledLog(options.log, { clock: options.clock })));
  return {
    app,
    api: createOperatorApi(server.endpoints, options.answers),
    publish: (event) => events.publish(event),
    close: () => events.close(),
  };
}

/** Strict everywhere; what the queue pages need is allowed by name. */
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
    // As on the pages of the same port: other hosts of the domain may have no TLS.
    strictTransportSecurity: false,
  });
}

/**
 * Logs and counts each request once its response is over. A client that closes the connection with the last byte of a
 * streamed body leaves a response that never finishes, but always closes.
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
