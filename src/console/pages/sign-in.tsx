import type { Express } from 'express';
import { isPerson, type Actor } from '../../domain/ops/audit';
import { SIGNED_OUT_PATH, OIDC_CALLBACK_PATH } from '../../platform/config/sign-in-variables';
import {
  SIGN_IN_PROBLEMS,
  type SignInProblem,
  SIGN_IN_LIMIT_MS,
  type IdentityProvider,
} from '../../workflow/identity-port';
import type { SignIn } from '../../workflow/operator-port';
import { queryIn, isSameOrigin, safePath, type HttpExchange } from '../requests';
import { redirect, type FormFailure, type Pages, page, type PageResult } from '../page';
import { send, type ServeTools } from '../serve';
import { oneOf, viewerOf, type Viewer } from '../viewer';
import { unsavedPage } from '../parts/error-pages';
import { PROVIDER_SIGN_OUT_PATH, signInPage, PROVIDER_PATH } from '../parts/sign-in-page';
import { UNSAVED_BYTES_MAX, unsavedIn } from '../parts/unsaved';
import { errorFacts } from '../../platform/errors';
import type { Log } from '../../platform/log/log';
import { cookieOf, hostCookie, hostCookieIn } from '../sessions';

const KEY_MAX = 500;
/** A sign-in form without an unsaved one. */
const SIGN_IN_BYTES_MAX = 10_000;

/** The sign-in page, and signing in with an API key. */
export function serveSignIn(app: Express, tools: ServeTools & { signIn: SignIn }): void {
  const { sessions, ways, clock, middleware } = tools;
  app.get('/sign-in', ...middleware, async (request, response) => {
    const visitor = await sessions.visitorOf(request);
    const viewer = viewerOf(request, visitor, clock);
    const query = queryIn(request.originalUrl);
    const next = safePath(query.get('next'));
    const problem = ways.provider && oneOf(SIGN_IN_PROBLEMS, query.get('problem') ?? undefined);
    const httpStatus = problem === null ? 200 : PROBLEM_STATUS[problem];
    const isSignedIn = visitor !== null && problem === null;
    const shown = isSignedIn ? redirect(next) : signInPage({ viewer, ways, next, failure: null, problem, httpStatus });
    send({ request, response }, viewer, shown, tools);
  });

  if (ways.keys) servePostedKeys(app, tools);
}

/** The status of the page that names a problem with the identity provider. */
const PROBLEM_STATUS: Readonly<Record<SignInProblem, number>> = {
  no_role: 403,
  not_begun: 400,
  refused: 403,
  unavailable: 503,
  rate_limited: 429,
};

function servePostedKeys(app: Express, tools: ServeTools & { signIn: SignIn }): void {
  const { sessions, ways, clock, forms, signIn, middleware } = tools;
  app.post('/sign-in', ...middleware, async (request, response) => {
    // A valid key is always accepted.
    const carried = (await forms.countOfStranger({ request, response })) === null ? UNSAVED_BYTES_MAX : 0;
    await forms.read({ request, response }, SIGN_IN_BYTES_MAX + carried);
    const viewer = viewerOf(request, null, clock);
    const body: unknown = request.body;
    const form = new URLSearchParams(typeof body === 'string' ? body : '');
    const next = safePath(form.get('next'));
    const unsaved = isSameOrigin(request) ? unsavedIn(form) : null;
    const refuse = (httpStatus: number, rule: string) => {
      const failure = failureOf(httpStatus, rule);
      send({ request, response }, viewer, signInPage({ viewer, ways, next, failure, httpStatus, unsaved }), tools);
    };
    // Without a session there is no form token, so the origin is checked.
    if (!isSameOrigin(request)) return refuse(403, viewer.messages.signIn.foreign);
    const key = (form.get('key') ?? '').trim();
    if (key === '' || key.length > KEY_MAX) return refuse(422, viewer.messages.signIn.empty);
    const signed = await signIn.check(key, request.ip);
    switch (signed.kind) {
      case 'wrong':
        return refuse(401, viewer.messages.signIn.wrong);
      case 'rate_limited': {
        response.set('retry-after', String(Math.ceil(signed.retryAfterMs / 1000)));
        return refuse(429, viewer.messages.signIn.slowed);
      }
      case 'valid': {
        const visitor = await sessions.begin({ request, response }, signed);
        if (!unsaved?.form) return send({ request, response }, viewer, redirect(next, 'signed_in'), tools);
        const again = { path: unsaved.path, form: unsaved.form, formToken: visitor.formToken };
        const signedIn = viewerOf(request, visitor, clock);
        return send({ request, response }, signedIn, unsavedPage(signedIn, { back: next, again }), tools);
      }
    }
  });
}

/** Ends the session for every copy of its cookie, or all sessions of its key or person. A person signs out at the provider too. */
export function serveSignOut(pages: Pages, { sessions }: Pick<ServeTools, 'sessions'>): void {
  const pathAfterSignOut = (actor: Actor) => (isPerson(actor) ? PROVIDER_SIGN_OUT_PATH : SIGNED_OUT_PATH);
  pages.post('/sign-out', 'viewer', async ({ request, response, actor }) => {
    await sessions.end({ request, response });
    return redirect(pathAfterSignOut(actor), 'signed_out');
  });
  pages.post('/sign-out-everywhere', 'viewer', async ({ request, response, visitor }) => {
    await sessions.endAll({ request, response }, visitor);
    return redirect(pathAfterSignOut(visitor.actor), 'signed_out_everywhere');
  });
}

/** The entered key is never shown again. */
function failureOf(httpStatus: number, rule: string): FormFailure {
  const refusal = {
    httpStatus,
    code: 'field_invalid',
    message: rule,
    details: [{ field: 'key', rule }],
    retryAfterMs: null,
  };
  return { form: 'sign-in', refusal, entered: new URLSearchParams() };
}

const COOKIE = 'towhook_sign_in';

/**
 * Signing in with the identity provider: the browser goes there with a ticket in a cookie, and comes back to the callback.
 * Each outcome but a rate limit is a redirect, so that the code of the provider does not stay in the address.
 */
export function serveProviderSignIn(
  app: Express,
  tools: ServeTools & { readonly log: Log },
  provider: IdentityProvider,
): void {
  const { sessions, ways, clock, log, middleware } = tools;
  const answer = (exchange: HttpExchange, shown: PageResult) =>
    send(exchange, viewerOf(exchange.request, null, clock), shown, tools);

  /** Not a redirect, so that a limited visitor causes no second request. */
  const refuse = (exchange: HttpExchange, { retryAfterMs }: { readonly retryAfterMs: number }, next: string) => {
    const viewer = viewerOf(exchange.request, null, clock);
    exchange.response.set('retry-after', String(Math.ceil(retryAfterMs / 1000)));
    answer(exchange, signInPage({ viewer, ways, next, failure: null, problem: 'rate_limited', httpStatus: 429 }));
  };

  app.get(PROVIDER_PATH, ...middleware, async (request, response) => {
    const next = safePath(queryIn(request.originalUrl).get('next'));
    const begun = await provider.begin(next, { address: request.ip });
    if (begun.kind === 'rate_limited') return refuse({ request, response }, begun, next);
    if (begun.kind === 'unavailable') return answer({ request, response }, problemPage(begun.kind, next));
    setTicket({ request, response }, begun.ticket, SIGN_IN_LIMIT_MS / 1000);
    answer({ request, response }, redirect(begun.address));
  });

  app.get(OIDC_CALLBACK_PATH, ...middleware, async (request, response) => {
    const query = queryIn(request.originalUrl);
    const ticket = hostCookieIn(request, COOKIE);
    const finished = await provider.finish(query, { ticket, address: request.ip });
    // The ticket stays, so that loading the page again later finishes the sign-in.
    if (finished.kind === 'rate_limited') return refuse({ request, response }, finished, '/board');
    setTicket({ request, response }, '', 0);
    const next = safePath(finished.next);
    if (finished.kind !== 'signed_in') return answer({ request, response }, problemPage(finished.kind, next));
    try {
      await sessions.begin({ request, response }, { actor: finished.actor, keyHash: null });
    } catch (error) {
      log.error('page.failed', { method: 'GET', path: OIDC_CALLBACK_PATH, ...errorFacts(error) });
      // The error page would lead back to this address, whose code is used.
      return answer({ request, response }, problemPage('unavailable', next));
    }
    answer({ request, response }, redirect(next, 'signed_in'));
  });

  // A page of its own, because browsers do not let the redirect of a form lead to an address outside of form-action.
  app.get(PROVIDER_SIGN_OUT_PATH, ...middleware, async (request, response) => {
    const address = await provider.signOutAddress();
    if (address === null) return answer({ request, response }, redirect(SIGNED_OUT_PATH));
    response.set('refresh', `0; url=${address}`);
    // The browser leaves this page at once, so the message is kept for the sign-in page.
    const viewer = { ...viewerOf(request, null, clock), done: null };
    send({ request, response }, viewer, signOutPage(viewer, address), tools);
  });
}

/** Shown until the browser has followed the address. */
function signOutPage(viewer: Viewer, address: string): PageResult {
  const messages = viewer.messages.signIn.provider.signOut;
  return page(
    messages.title,
    <div class="narrow">
      <h1>{messages.title}</h1>
      <p>{messages.note}</p>
      <a class="button main" href={address}>
        {messages.submit}
      </a>
    </div>,
  );
}

function setTicket({ request, response }: HttpExchange, ticket: string, maxAgeSeconds: number): void {
  response.append('set-cookie', cookieOf(request, hostCookie(request, COOKIE), ticket, maxAgeSeconds));
}

function problemPage(problem: SignInProblem, next: string): PageResult {
  return redirect(`/sign-in?problem=${problem}&next=${encodeURIComponent(next)}`);
}
