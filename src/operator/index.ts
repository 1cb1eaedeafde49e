import express, { type RequestHandler } from 'express';
import helmet from 'helmet';
import type { StoreEvent } from '../contracts/records';
import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log';
import type { Metrics } from '../platform/metrics';
import type { AnswerStore, ApiKeyStore, DeliveryStore, TaskStore } from '../workflow/ports';
import type { ProgressTools } from '../workflow/progress';
import { serveApiKeys } from './api-keys';
import { createAuthenticator } from './authenticate';
import { serveDeliveries } from './deliveries';
import { serveEvents } from './events';
import { openApiDocument } from './openapi';
import { mountQueuePages, serveQueues, type WatchedQueue } from './queues';
import { answerError, sendError } from './reply';
import { createServer } from './serve';
import { serveTasks } from './tasks';
import { serveTows } from './tows';

export interface OperatorOptions {
  readonly progress: ProgressTools;
  readonly deliveries: DeliveryStore;
  readonly tasks: TaskStore;
  readonly keys: ApiKeyStore;
  readonly answers: AnswerStore;
  readonly queues: readonly WatchedQueue[];
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
  serveTasks(server, options.tasks);
  serveDeliveries(server, { deliveries: options.deliveries, wake: options.progress.wake });
  serveQueues(server, options.queues);
  serveApiKeys(server, { keys: options.keys, clock: options.clock });
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
  app.use(answerError(options.log));
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

/** One line per request. The route's pattern stands for its address: a query may carry a plate. */
function logRequests({ log, metrics, clock }: OperatorOptions): RequestHandler {
  return (request, response, next) => {
    const startedMs = clock.monotonicMs();
    response.on('finish', () => {
      const route: unknown = request.route;
      const path = typeof route === 'object' && route !== null && 'path' in route ? route.path : '(none)';
      metrics.apiAnswered(request.method, response.statusCode);
      log[response.statusCode >= 500 ? 'error' : 'debug']('api.answered', {
        method: request.method,
        path,
        towing_reference_id: request.params?.['towing_reference_id'],
        http_status: response.statusCode,
        duration_ms: Math.round(clock.monotonicMs() - startedMs),
      });
    });
    next();
  };
}
