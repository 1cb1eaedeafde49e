import type { Express } from 'express';
import { isPerson, type Actor } from '../../domain/ops/audit';
import { SIGNED_OUT_PATH } from '../../platform/config/sign-in-variables';
import { SIGN_IN_PROBLEMS, type SignInProblem } from '../../workflow/identity-port';
import type { SignIn } from '../../workflow/operator-port';
import { queryIn, isSameOrigin, safePath } from '../requests';
import { redirect, type FormFailure, type Pages } from '../page';
import { send, type ServeTools } from '../serve';
import { oneOf, viewerOf } from '../viewer';
import { unsavedPage } from '../parts/error-pages';
import { PROVIDER_SIGN_OUT_PATH, signInPage } from '../parts/sign-in-page';
import { UNSAVED_BYTES_MAX, unsavedIn } from '../parts/unsaved';

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
