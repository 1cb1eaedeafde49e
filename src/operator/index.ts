import express, { type RequestHandler } from 'express';
import helmet from 'helmet';
import type { StoreEvent } from '../contracts/records';
import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log';
import { throttledLog } from '../platform/log-throttle';
import type { Metrics } from '../platform/metrics';
import type { AnswerStore, ApiKeyStore, AuditStore, DeliveryStore, SendingStore, TaskStore } from '../workflow/ports';
import type { ConservationStore } from '../workflow/conservation-port';
import type { ProgressTools } from '../workflow/progress';
import { serveApiKeys } from './api-keys';
import { serveAudit } from './audit';
import { createAuthenticator } from './authenticate';
import { serveConservation } from './conservation';
import { serveDeliveries } from './deliveries';
import { serveEvents } from './events';
import { openApiDocument } from './openapi';
import { mountQueuePages, serveQueues, type WatchedQueue } from './queues';
import { answerError, routeOf, sendError } from './reply';
import { serveSending } from './sending';
import { createServer } from './serve';
import { serveTasks } from './tasks';
import { serveTows } from './tows';

export interface OperatorOptions {
  readonly progress: ProgressTools;
  readonly deliveries: DeliveryStore;
  readonly tasks: TaskStore;
  readonly sending: SendingStore;
  readonly keys: ApiKeyStore;
  readonly audit: AuditStore;
  readonly answers: AnswerStore;
  readonly queues: readonly WatchedQueue[];
  readonly conservation: Pick<ConservationStore, 'lastWalk'>;
  readonly bootstrapApiKey: string | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const BODY_LIMIT_BYTES = 100_000;

/** The operator API and the queue pages as an Express application. */
export function createOperator(options: OperatorOptions) {
  const app = express();
  const authenticator = createAuthenticator(options.keys, options.bootstrapApiKey);
  app.disable('etag');
  app.use(securityHeaders());
  app.use(logRequests(options));
  mountQueuePages(app, options.queues, authenticator);
  app.use(express.json({ type: () => true, limit: BODY_LIMIT_BYTES }));

  const server = createServer(app, { authenticator, answers: options.answers });
  serveTows(server, options.progress);
  serveTasks(server, { tasks: options.tasks, tows: options.progress.tows });
  serveSending(server, options.sending);
  serveDeliveries(server, { deliveries: options.deliveries, wake: options.progress.wake });
  serveQueues(server, options.queues);
  serveConservation(server, options.conservation);
  serveApiKeys(server, { keys: options.keys, clock: options.clock });
  serveAudit(server, options.audit);
  const events = serveEvents(app, authenticator);
  app.get('/openapi.json', (_request, response) => {
    response.json(openApiDocument());
  });
  app.get('/', (_request, response) => {
    response.json({
      name: 'towhook',
      api: '/api/tows',
      description: '/openapi.json',
      queues: '/queues',
      metrics: '/metrics',
    });
  });
  app.use((_request, response) => sendError(response, 404, { code: 'not_found', message: 'No such address.' }));
  app.use(answerError(throttledLog(options.log, { clock: options.clock })));
  return { app, publish: (event: StoreEvent) => events.publish(event), close: () => events.close() };
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
  });
}

/** One line per request, for whoever asks for that much; what fails inside has a line of its own. */
function logRequests({ log, metrics, clock }: OperatorOptions): RequestHandler {
  return (request, response, next) => {
    const startedMs = clock.monotonicMs();
    response.on('finish', () => {
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
