import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { constants } from 'node:zlib';
import compression from 'compression';
import express, { type Express, type RequestHandler } from 'express';
import type { TrustProxy } from '../platform/config/config';
import { throttledLog } from '../platform/log/log-throttle';
import type { IdentityProvider } from '../workflow/identity-port';
import type { SignIn } from '../workflow/operator-port';
import { serveAssets } from './assets';
import { servePublicPath } from './requests';
import { errorPages, serveMissing, createPages } from './serve';
import { serveAudit } from './pages/audit';
import { serveDeliveries } from './pages/deliveries/route';
import { serveKeys } from './pages/keys';
import { serveServicePages } from './pages/service/route';
import { serveBoard } from './pages/board/route';
import { serveRuns } from './pages/runs/route';
import { serveLookups } from './pages/lookups';
import { serveNotifications } from './pages/notifications';
import { serveOps } from './pages/ops/route';
import { servePreferences } from './pages/preferences';
import { serveSignIn, serveSignOut, serveProviderSignIn } from './pages/sign-in';
import { serveWithheld } from './pages/withheld';
import { serveSubscriptions } from './pages/subscriptions';
import { serveTasks } from './pages/tasks/route';
import { serveTow } from './pages/tow/route';
import { serveReportViolation } from './pages/report-violation';
import { serveViolation } from './pages/violation/route';
import { serveViolations } from './pages/violations';
import { createPageFormReader, type PageFormTools } from './forms';
import type { Sessions, SignInWays } from './sessions';
import type { Pages, PageTools } from './page';
import type { PageName } from './page-table';
import helmet from 'helmet';

export { createSessions, type Sessions, type SignInWays } from './sessions';
export type { PageTools } from './page';

interface ConsoleOptions extends PageTools, PageFormTools {
  readonly sessions: Sessions;
  readonly signIn: SignIn;
  /** How people may sign in. */
  readonly ways: SignInWays;
  /** Null without a provider in `ways`. */
  readonly provider: IdentityProvider | null;
  readonly trustProxy: TrustProxy;
  /** Of the address at which people open the console, such as `/towhook`; empty without one. */
  readonly publicPath: string;
  readonly proxyNote: RequestHandler;
  /** Serves everything that is no page: the operator API, below these paths and for clients that do not accept HTML. */
  readonly fallback: { readonly serve: RequestListener; readonly paths: readonly string[] };
}

/**
 * Serves each page of the table; `preferences` and `signIn` need no session and are served before. The order is that of
 * the routes: `/violations/new` comes before `/violations/:id`.
 */
const SERVE: Readonly<
  Record<
    Exclude<PageName, 'preferences' | 'signIn' | 'delivery' | 'difference'>,
    (pages: Pages, tools: PageTools) => void
  >
> = {
  board: serveBoard,
  tow: serveTow,
  tasks: serveTasks,
  runs: serveRuns,
  violations: serveViolations,
  reportViolation: serveReportViolation,
  violation: serveViolation,
  lookups: serveLookups,
  ops: serveOps,
  // Also serves the page of one delivery.
  deliveries: serveDeliveries,
  // Also serves the page of one kind of difference.
  service: serveServicePages,
  notifications: serveNotifications,
  subscriptions: serveSubscriptions,
  keys: serveKeys,
  withheld: serveWithheld,
  audit: serveAudit,
};

/** The pages of the console. Everything else goes to the operator API on the same port. */
export function createConsole(options: ConsoleOptions): Express {
  const { sessions, signIn, clock, log, fallback } = options;
  const app = express();
  app.disable('etag');
  app.disable('x-powered-by');
  app.set('trust proxy', options.trustProxy);
  app.use(options.proxyNote);
  if (options.publicPath !== '') app.use(servePublicPath(options.publicPath));
  const assets = serveAssets(app, compression());
  // Only pages pass this middleware. The API has its own headers, and streams that must not be buffered.
  const tools = {
    sessions,
    ways: options.ways,
    assets,
    forms: createPageFormReader(options),
    clock,
    api: options.api,
    // The default quality saves 1 ms and costs 20 % more bytes.
    middleware: [pageSecurity(), compression({ brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } } })],
  };
  // First, because an address that cannot be decoded fails at the first page pattern.
  app.use((request, response, next) => {
    const isFallback = fallback.paths.some((path) => request.path === path || request.path.startsWith(`${path}/`));
    if (isFallback) fallback.serve(request, response);
    else next();
  });
  app.get('/', (request, response, next) => {
    // Clients that do not prefer HTML get the answer of the API.
    if (request.accepts(['json', 'html']) === 'html') response.redirect(303, '/board');
    else next();
  });
  serveSignIn(app, { ...tools, signIn });
  const toolsWithLog = { ...tools, log: throttledLog(log, { clock }) };
  if (options.provider !== null) serveProviderSignIn(app, toolsWithLog, options.provider);
  servePreferences(app, tools);
  const pages = createPages(app, tools);
  serveSignOut(pages, tools);
  for (const serve of Object.values(SERVE)) serve(pages, options);
  serveMissing(app, tools);
  app.use((request: IncomingMessage, response: ServerResponse) => fallback.serve(request, response));
  app.use(errorPages(toolsWithLog));
  return app;
}

/** Pages load scripts, styles and images only from this server, send forms only to it, and cannot be framed. */
function pageSecurity(): RequestHandler {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'blob:'],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    // A change of preferences redirects to the referring page.
    referrerPolicy: { policy: 'same-origin' },
    // The proxy in front decides on TLS.
    strictTransportSecurity: false,
  });
}
