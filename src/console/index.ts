import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { constants } from 'node:zlib';
import compression from 'compression';
import express, { type Express } from 'express';
import type { Clock } from '../platform/clock';
import type { TrustProxy } from '../platform/config';
import type { Log } from '../platform/log';
import { throttledLog } from '../platform/log-throttle';
import type { SignIn } from '../workflow/operator-port';
import { serveAssets } from './assets';
import { errorPages, serveMissing } from './error-pages';
import { serveBoard } from './pages/board';
import { serveBulk } from './pages/bulk';
import { serveLookups } from './pages/lookups';
import { serveOps } from './pages/ops';
import { servePreferences } from './pages/preferences';
import { serveSignIn, serveSignOut } from './pages/sign-in';
import { serveTasks } from './pages/tasks';
import { serveTow } from './pages/tow';
import { serveViolations } from './pages/violations';
import { pageSecurity } from './security';
import { createPages } from './serve';
import type { Sessions } from './sessions';
import type { PageTools } from './tools';

export { createSessions, type Sessions } from './sessions';
export type { PageTools } from './tools';

export interface ConsoleOptions extends PageTools {
  readonly sessions: Sessions;
  readonly signIn: SignIn;
  readonly trustProxy: TrustProxy;
  readonly clock: Clock;
  readonly log: Log;
  /** Serves whatever is no page of the console: the operator API, below these paths and to whatever is no browser. */
  readonly beyond: { readonly serve: RequestListener; readonly paths: readonly string[] };
}

/** The pages of the console, in front of what serves the same port. */
export function createConsole(options: ConsoleOptions): Express {
  const { sessions, signIn, clock, log, beyond } = options;
  const app = express();
  app.disable('etag');
  app.disable('x-powered-by');
  app.set('trust proxy', options.trustProxy);
  const assets = serveAssets(app, compression());
  // Only what is a page is dressed as one: the API beyond has headers of its own, and streams that must not be buffered.
  const tools = {
    sessions,
    assets,
    clock,
    openTasks: () => options.tasks.count(),
    // The library's own choice of quality saves a millisecond and costs a fifth more bytes.
    dress: [pageSecurity(), compression({ brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } } })],
  };
  // Before any page: an address that cannot be decoded fails at the first page whose pattern is tried on it.
  app.use((request, response, next) => {
    const isBeyond = beyond.paths.some((path) => request.path === path || request.path.startsWith(`${path}/`));
    if (isBeyond) beyond.serve(request, response);
    else next();
  });
  app.get('/', (request, response, next) => {
    // A program that asks for nothing in particular is told about the API.
    if (request.accepts(['json', 'html']) === 'html') response.redirect(303, '/board');
    else next();
  });
  serveSignIn(app, { ...tools, signIn });
  servePreferences(app, tools);
  const pages = createPages(app, tools);
  serveSignOut(pages, tools);
  serveBoard(pages, options);
  serveTow(pages, options);
  serveViolations(pages, options);
  serveLookups(pages, options);
  serveTasks(pages, options);
  serveBulk(pages, options);
  serveOps(pages, options);
  serveMissing(app, tools);
  app.use((request: IncomingMessage, response: ServerResponse) => beyond.serve(request, response));
  app.use(errorPages({ ...tools, log: throttledLog(log, { clock }) }));
  return app;
}
