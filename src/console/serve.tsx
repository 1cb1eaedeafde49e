import type { Express, Request, RequestHandler, Response, ErrorRequestHandler } from 'express';
import { roleAllows, type Role } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import { ROUTES } from '../contracts/operator-routes';
import type { OperatorApi } from '../workflow/operator-port';
import { readRoute } from './api-calls';
import {
  type Pages,
  type PageVisit,
  part,
  redirect,
  type DoneMessage,
  type PageResult,
  type ShownPage,
  missing,
} from './page';
import type { Assets } from './assets';
import { queryIn, previousPage, wantsPart as isForPart, type HttpExchange } from './requests';
import { formIn, keptForm, type PageFormReader } from './forms';
import { Layout } from './layout';
import { forbiddenPage, missingPage, refusedPage, unavailablePage } from './parts/error-pages';
import { signInPage } from './parts/sign-in-page';
import { cookieOf, isFormOf, type Sessions, type SignInWays } from './sessions';
import { DONE_COOKIE, viewerOf, type Viewer } from './viewer';
import { errorFacts } from '../platform/errors';
import type { Log } from '../platform/log/log';

export interface ServeTools {
  readonly sessions: Sessions;
  readonly ways: SignInWays;
  readonly assets: Assets;
  readonly forms: PageFormReader;
  readonly clock: Clock;
  readonly api: OperatorApi;
  /** Middleware of every page: headers, compression. */
  readonly middleware: readonly RequestHandler[];
}

const DONE_SECONDS = 30;

export function createPages(app: Express, tools: ServeTools): Pages {
  const shown = new Set<string>();
  const open = async (exchange: HttpExchange, role: Role, handle: (visit: PageVisit) => Promise<PageResult>) => {
    const { request, response } = exchange;
    const visitor = await tools.sessions.visitorOf(request);
    const wantsPart = isForPart(request.headers);
    const status = visitor && (await readRoute(tools.api, ROUTES.readStatus, { actor: visitor.actor }));
    const viewer = { ...viewerOf(request, visitor, tools.clock), status };
    if (!visitor) return send(exchange, viewer, await askToSignIn(exchange, viewer, tools), tools);
    if (!roleAllows(visitor.actor.role, role)) {
      const forbidden = wantsPart ? loadAgain(response) : forbiddenPage(viewer, role);
      return send(exchange, viewer, forbidden, tools);
    }
    const visit: PageVisit = {
      viewer,
      actor: visitor.actor,
      visitor,
      params: (name) => paramOf(request, name),
      query: queryIn(request.originalUrl),
      wantsPart,
      request,
      response,
    };
    return send(exchange, viewer, await handle(visit), tools);
  };
  /** A form that is answered with a page leaves its address in the browser. A GET of it leads to the page above it. */
  const leadBack = (path: string) => {
    app.get(path, ...tools.middleware, (request, response, next) => {
      if (shown.has(path)) return next();
      response
        .set('cache-control', 'no-store')
        .redirect(303, pageAbove({ pattern: path, address: request.path }, shown));
    });
  };
  return {
    get: (path, role, handler) => {
      shown.add(path);
      app.get(path, ...tools.middleware, (request, response) => open({ request, response }, role, handler));
    },
    post: (path, role, handler) => {
      leadBack(path);
      app.post(path, ...tools.middleware, (request, response) =>
        open({ request, response }, role, async (visit) => {
          await tools.forms.read({ request, response });
          const form = formIn(request.body);
          if (!isFormOf(visit.visitor, form.get('form_token') ?? '')) {
            if (visit.wantsPart) return loadAgain(visit.response);
            // Most likely signed in again in another tab: offer to send the form with the current token.
            const kept = keptForm(request);
            const again = kept && { path: visit.viewer.here, form: kept, formToken: visit.visitor.formToken };
            return refusedPage(visit.viewer, { httpStatus: 403, back: previousPage(request), again });
          }
          return handler({ ...visit, form, idempotencyKey: form.get('form_key') ?? '' });
        }),
      );
    },
    upload: (path, role, handler) => {
      leadBack(path);
      app.post(path, ...tools.middleware, (request, response) => open({ request, response }, role, handler));
    },
  };
}

/** Shows a message on the next page, if it is loaded within 30 s. */
function setDoneMessage({ request, response }: HttpExchange, done: DoneMessage): void {
  response.append('set-cookie', cookieOf(request, DONE_COOKIE, done, DONE_SECONDS));
}

/** Refuses a request of a part. htmx loads the whole page, which has the current token or shows the refusal. */
function loadAgain(response: Response): PageResult {
  response.set('hx-refresh', 'true');
  return part('', 403);
}

/** Sends the result of a handler. */
export function send({ request, response }: HttpExchange, viewer: Viewer, shown: PageResult, tools: ServeTools): void {
  response.set('cache-control', 'no-store');
  switch (shown.kind) {
    case 'redirect':
      if (shown.done !== null) setDoneMessage({ request, response }, shown.done);
      // A script cannot stop a redirect from being followed (send-forms.js, upload.js).
      if (isSentByScript(request, shown.done)) response.set('hx-redirect', shown.address).type('html').send('');
      else response.redirect(303, shown.address);
      return;
    case 'part':
      response
        .status(shown.httpStatus)
        .type('html')
        .send(textOf(<>{shown.content}</>));
      return;
    case 'missing':
      return send({ request, response }, viewer, missingPage(viewer, 404, shown.record), tools);
    case 'page':
      // The page shows the message, and no later page does. A part has no place for it.
      if (viewer.done !== null) response.append('set-cookie', cookieOf(request, DONE_COOKIE, '', 0));
      response
        .status(shown.httpStatus)
        .type('html')
        .send(documentOf(shown, viewer, tools));
      return;
  }
}

/** Of the requests of htmx only a form that was accepted is one: the others follow a redirect to the sign-in page. */
function isSentByScript(request: Request, done: DoneMessage | null): boolean {
  return request.get('hx-boosted') !== undefined || (done !== null && isForPart(request.headers));
}

function documentOf(shown: ShownPage, viewer: Viewer, { assets }: ServeTools): string {
  const { title, content, assets: also, isShownOnce } = shown;
  return `<!doctype html>\n${textOf(
    <Layout viewer={viewer} title={title} assets={assets} also={also} isShownOnce={isShownOnce}>
      {content}
    </Layout>,
  )}`;
}

/** Renders an element. Nothing in a page is asynchronous, and all text is escaped. */
function textOf(element: ReturnType<typeof Layout>): string {
  // oxlint-disable-next-line typescript/no-base-to-string -- toString() of a hono element renders it.
  const text: unknown = element.toString();
  if (typeof text !== 'string') throw new Error('a part of the page is not there yet');
  return text;
}

/**
 * Redirects to the sign-in page. A form of a page is answered with the sign-in page itself, which says that nothing was
 * saved: its fields are shown there, never put into an address. Scripts follow the redirect and keep their page.
 */
async function askToSignIn(exchange: HttpExchange, viewer: Viewer, { ways, forms }: ServeTools): Promise<PageResult> {
  const { request } = exchange;
  const isOfPage = request.get('hx-request') === undefined;
  const isPage = request.method === 'GET' && isOfPage;
  const next = isPage ? request.originalUrl : request.method === 'GET' ? '/board' : previousPage(request);
  if (request.method !== 'POST' || !isOfPage || SIGN_OUT_PATHS.includes(request.path)) {
    return redirect(`/sign-in?next=${encodeURIComponent(next)}`);
  }
  await forms.readOfStranger(exchange);
  const unsaved = { path: request.originalUrl, form: keptForm(request) };
  return signInPage({ viewer, ways, next, failure: null, httpStatus: 401, unsaved });
}

/** Without a session, these forms have nothing to do. */
const SIGN_OUT_PATHS = ['/sign-out', '/sign-out-everywhere'];

/** The nearest page above the address of a form, by the patterns of the pages; the board if there is none. */
function pageAbove(form: { pattern: string; address: string }, shown: ReadonlySet<string>): string {
  const [pattern, address] = [form.pattern.split('/'), form.address.split('/')];
  const upTo = (parts: readonly string[], depth: number) => parts.slice(0, depth).join('/');
  const depth = pattern.findLastIndex((_part, index) => shown.has(upTo(pattern, index)));
  return depth === -1 ? '/board' : upTo(address, depth);
}

function paramOf(request: Request, name: string): string {
  const value = request.params[name];
  return typeof value === 'string' ? value : '';
}

/** Error pages: an address or form that cannot be read, a form that is too large, or Redis being unreachable. */
export function errorPages({ log, ...tools }: ServeTools & { log: Log }): ErrorRequestHandler {
  return async (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    if (!response.hasHeader('content-security-policy')) applyMiddleware({ request, response }, tools);
    // The session may be what could not be read.
    const viewer = viewerOf(request, null, tools.clock);
    const httpStatus = error instanceof Error && 'status' in error ? error.status : null;
    if (typeof httpStatus === 'number' && httpStatus < 500) {
      // An address that cannot be decoded fails first.
      const isAddress = error instanceof URIError && httpStatus === 400;
      const shown = isAddress
        ? missingPage(viewer, httpStatus)
        : refusedPage(viewer, { httpStatus, back: previousPage(request) });
      return send({ request, response }, viewer, shown, tools);
    }
    log.error('page.failed', { method: request.method, path: routeOf(request.route), ...errorFacts(error) });
    // Whether the visitor has a session is not known.
    if (request.method === 'POST' && request.body === undefined) await readIfAllowed({ request, response }, tools);
    response.set('retry-after', '2');
    const form = keptForm(request);
    const again = form && { path: viewer.here, form, formToken: form.get('form_token') ?? '' };
    const back = request.method === 'GET' ? request.originalUrl : previousPage(request);
    send({ request, response }, viewer, unavailablePage(viewer, { back, again }), tools);
  };
}

/** A form that is not read is not shown again. */
async function readIfAllowed(exchange: HttpExchange, { forms }: ServeTools): Promise<void> {
  try {
    await forms.readOfStranger(exchange);
  } catch {}
}

/** Runs the middleware for a page without a route. */
function applyMiddleware({ request, response }: HttpExchange, { middleware }: ServeTools): void {
  for (const step of middleware) step(request, response, () => {});
}

/** The route pattern, because the address may contain a plate. */
function routeOf(route: unknown): unknown {
  return typeof route === 'object' && route !== null && 'path' in route ? route.path : '(none)';
}

/** A page for unknown addresses. Clients that prefer JSON get the answer of the API. */
export function serveMissing(app: Express, tools: ServeTools): void {
  app.get('/{*path}', (request, response, next) => {
    if (request.accepts(['json', 'html']) !== 'html') return next();
    applyMiddleware({ request, response }, tools);
    send({ request, response }, viewerOf(request, null, tools.clock), missing, tools);
  });
}
