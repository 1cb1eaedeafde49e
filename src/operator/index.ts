import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import { throttledLog } from '../platform/log/log-throttle';
import type { OperatorApi } from '../workflow/operator-port';
import { createApiServer } from './api-server';
import { createAuthenticator, protectPaths } from './authenticate';
import { serveDocs } from './docs';
import { createOperatorApi } from './in-process';
import { mountEndpoints, refuseUnknown } from './mount';
import { serveApiKeys } from './ops/api-keys';
import { EVENTS_ROUTE, serveChanges, serveEvents } from './ops/changes';
import { serveLookups } from './ops/lookups';
import { serveOperations } from './ops/operations';
import { serveSubscriptions } from './ops/subscriptions';
import { mountQueuePages, serveQueues } from './ops/queues';
import { serveWithheld } from './ops/withheld';
import { serveRuns, serveTasks } from './ops/tasks';
import { answerError, routeOf } from './send-response';
import { serveDispatch } from './tow/dispatch';
import { serveTows } from './tow/tows';
import type { OperatorTools } from './tools';
import { serveViolations } from './violation/violations';

export { BOOTSTRAP, createSignIn } from './authenticate';
export type { OperatorTools } from './tools';

export interface Operator {
  readonly app: Express;
  /** The API for code in this process. */
  readonly api: OperatorApi;
  /** Ends all event streams, so that the listener can close. */
  close(): void;
}

const ROUTES_OF_ALL = [
  serveTows,
  serveDispatch,
  serveViolations,
  serveTasks,
  serveRuns,
  serveOperations,
  serveWithheld,
  serveLookups,
  serveQueues,
  serveApiKeys,
  serveChanges,
  serveSubscriptions,
];

/** The operator API over HTTP and in process, and the pages and documents that share its port. */
export function createOperator(tools: OperatorTools): Operator {
  const app = express();
  const { clock, log } = tools;
  const authenticator = createAuthenticator(tools.signIn, tools.sessionActor);
  app.disable('etag');
  app.set('trust proxy', tools.trustProxy);
  app.use(securityHeaders());
  app.use(logRequests(tools));
  mountQueuePages(app, tools.queues, authenticator);

  const server = createApiServer({ ...tools, log: throttledLog(log, { clock }) });
  for (const serve of ROUTES_OF_ALL) serve(server, tools);
  mountEndpoints(app, server.endpoints, authenticator);
  const events = serveEvents(app, authenticator, tools);
  protectPaths(app, authenticator, tools.openPaths);
  app.get('/metrics', async (_request, response) => {
    const { contentType, text } = await tools.metrics.text();
    response.set({ 'content-type': contentType, 'cache-control': 'no-store' }).send(text);
  });
  serveDocs(app);
  app.get('/', (_request, response) => {
    response.json({
      name: 'towhook',
      api: `${tools.publicPath}/api/tows`,
      description: `${tools.publicPath}/openapi.json`,
      docs: `${tools.publicPath}/docs`,
      queues: `${tools.publicPath}/queues`,
      metrics: `${tools.publicPath}/metrics`,
    });
  });
  refuseUnknown(app, [...server.endpoints.keys(), EVENTS_ROUTE]);
  app.use(answerError(throttledLog(log, { clock })));
  return {
    app,
    api: createOperatorApi(server.endpoints, tools.answers),
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
function logRequests({ log, metrics, clock }: OperatorTools): RequestHandler {
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
