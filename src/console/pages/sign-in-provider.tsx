import type { Express } from 'express';
import { errorFacts } from '../../platform/errors';
import type { Log } from '../../platform/log/log';
import { OIDC_CALLBACK_PATH, SIGNED_OUT_PATH } from '../../platform/config/sign-in-variables';
import { SIGN_IN_LIMIT_MS, type IdentityProvider, type SignInProblem } from '../../workflow/identity-port';
import { page, redirect, type PageResult } from '../page';
import { PROVIDER_PATH, PROVIDER_SIGN_OUT_PATH, signInPage } from '../parts/sign-in-page';
import { queryIn, safePath, type HttpExchange } from '../requests';
import { send, type ServeTools } from '../serve';
import { cookieOf, hostCookie, hostCookieIn } from '../sessions';
import { viewerOf, type Viewer } from '../viewer';

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
