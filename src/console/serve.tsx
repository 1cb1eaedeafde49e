import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import type { Child } from 'hono/jsx';
import type { Actor } from '../domain/audit';
import { roleAllows, type Role } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import type { Assets } from './assets';
import { elsewhere, type Done, type Shown } from './answers';
import { saidIn } from './addresses';
import { Layout } from './layout';
import { enteredIn, keptForm } from './kept-form';
import { forbiddenPage, missingPage, refusedPage } from './pages/errors';
import { signInPage } from './pages/sign-in-page';
import { backOf, wantsPart as isForPart } from './requests';
import { cookieOf, isFormOf, type Sessions, type Visitor } from './sessions';
import { DONE_COOKIE, viewerOf, type Viewer } from './viewer';

/** A look at a page by somebody who has signed in. */
export interface Visit {
  readonly viewer: Viewer;
  readonly actor: Actor;
  readonly visitor: Visitor;
  readonly params: (name: string) => string;
  readonly query: URLSearchParams;
  /** True when only a part of the page is asked for. */
  readonly wantsPart: boolean;
  readonly request: Request;
  /** For cookies; what is shown is the handler's answer. */
  readonly response: Response;
}

/** A form that somebody sent. */
export interface Posted extends Visit {
  readonly form: URLSearchParams;
  /** The name under which this form has its effect once. */
  readonly idempotencyKey: string;
}

/** The pages of the console, each behind the role it needs. */
export interface Pages {
  get(path: string, role: Role, handler: (visit: Visit) => Promise<Shown>): void;
  /** A form with fields alone; its token is checked before the handler sees it. */
  post(path: string, role: Role, handler: (posted: Posted) => Promise<Shown>): void;
  /** A form with files: the handler reads the body, and looks at the token in it. */
  upload(path: string, role: Role, handler: (visit: Visit) => Promise<Shown>): void;
}

export interface ServeTools {
  readonly sessions: Sessions;
  readonly assets: Assets;
  readonly clock: Clock;
  /** How many tasks are open: said on every page. */
  readonly openTasks: () => Promise<number>;
  /** What every page passes before it is shown: headers, compression. */
  readonly dress: readonly RequestHandler[];
}

const FORM_LIMIT_BYTES = 200_000;
const DONE_SECONDS = 30;
const parseForm: RequestHandler = express.text({
  type: 'application/x-www-form-urlencoded',
  limit: FORM_LIMIT_BYTES,
  defaultCharset: 'utf-8',
});

export function createPages(app: Express, tools: ServeTools): Pages {
  const open = async (exchange: Exchange, role: Role, handle: (visit: Visit) => Promise<Shown>) => {
    const { request, response } = exchange;
    const visitor = await tools.sessions.visitorOf(request);
    const wantsPart = isForPart(request.headers);
    const openTasks = visitor === null || wantsPart ? null : await tools.openTasks();
    const viewer = { ...viewerOf(request, visitor, tools.clock), openTasks };
    if (!visitor) return send(exchange, viewer, askToSignIn(request, viewer), tools);
    if (!roleAllows(visitor.actor.role, role)) {
      return send(exchange, viewer, forbiddenPage(viewer, role), tools);
    }
    // A part has no place for it: the next page says it.
    if (viewer.done !== null && !wantsPart) response.append('set-cookie', cookieOf(request, DONE_COOKIE, '', 0));
    const visit: Visit = {
      viewer,
      actor: visitor.actor,
      visitor,
      params: (name) => paramOf(request, name),
      query: saidIn(request.originalUrl),
      wantsPart,
      request,
      response,
    };
    return send(exchange, viewer, await handle(visit), tools);
  };
  return {
    get: (path, role, handler) => {
      app.get(path, ...tools.dress, (request, response) => open({ request, response }, role, handler));
    },
    post: (path, role, handler) => {
      app.post(path, ...tools.dress, parseForm, (request, response) =>
        open({ request, response }, role, async (visit) => {
          const body: unknown = request.body;
          const form = new URLSearchParams(typeof body === 'string' ? body : '');
          if (!isFormOf(visit.visitor, form.get('form_token') ?? '')) {
            // Signed in anew in another tab, most likely: what was entered goes on with the token of now.
            const kept = keptForm(request);
            const again = kept && { form: kept, formToken: visit.visitor.formToken };
            return refusedPage(visit.viewer, { httpStatus: 403, back: backOf(request), again });
          }
          return handler({ ...visit, form, idempotencyKey: form.get('form_key') ?? '' });
        }),
      );
    },
    upload: (path, role, handler) => {
      app.post(path, ...tools.dress, (request, response) => open({ request, response }, role, handler));
    },
  };
}

export interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

/** Has the next page say what was done; a page that is not loaded soon has missed it. */
export function sayDone({ request, response }: Exchange, done: Done): void {
  response.append('set-cookie', cookieOf(request, DONE_COOKIE, done, DONE_SECONDS));
}

/** Sends what a handler answered. */
export function send({ request, response }: Exchange, viewer: Viewer, shown: Shown, tools: ServeTools): void {
  response.set('cache-control', 'no-store');
  switch (shown.kind) {
    case 'elsewhere':
      if (shown.done !== null) sayDone({ request, response }, shown.done);
      response.redirect(303, shown.address);
      return;
    case 'part':
      response
        .status(shown.httpStatus)
        .type('html')
        .send(textOf(<>{shown.content}</>));
      return;
    case 'missing':
      return send({ request, response }, viewer, missingPage(viewer, 404), tools);
    case 'page':
      response
        .status(shown.httpStatus)
        .type('html')
        .send(documentOf(shown, viewer, tools));
      return;
  }
}

function documentOf(
  shown: { title: string; content: Child; assets: readonly string[] },
  viewer: Viewer,
  { assets }: ServeTools,
): string {
  return `<!doctype html>\n${textOf(
    <Layout viewer={viewer} title={shown.title} assets={assets} also={shown.assets}>
      {shown.content}
    </Layout>,
  )}`;
}

/** Nothing in a page is waited for, so that it is text at once; what it is made of comes escaped. */
function textOf(element: ReturnType<typeof Layout>): string {
  // oxlint-disable-next-line typescript/no-base-to-string -- An element of hono's JSX is made to become text.
  const text: unknown = element.toString();
  if (typeof text !== 'string') throw new Error('a part of the page is not there yet');
  return text;
}

/**
 * Whoever asks for a part of a page is told to load the page that signs in as a whole. What was entered into a form is
 * shown on that page, and stands in no address.
 */
function askToSignIn(request: Request, viewer: Viewer): Shown {
  const isPage = request.method === 'GET' && request.get('hx-request') === undefined;
  const kept = keptForm(request);
  const next = isPage ? request.originalUrl : request.method === 'GET' ? '/board' : backOf(request);
  if (kept && enteredIn(kept).length > 0) {
    return signInPage(viewer, { next, failure: null, httpStatus: 401, entered: kept });
  }
  return elsewhere(`/sign-in?next=${encodeURIComponent(next)}`);
}

function paramOf(request: Request, name: string): string {
  const value = request.params[name];
  return typeof value === 'string' ? value : '';
}
