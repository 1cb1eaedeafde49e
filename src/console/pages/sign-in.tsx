import express, { type Express } from 'express';
import type { SignIn } from '../../workflow/operator-port';
import { saidIn } from '../addresses';
import { elsewhere, type Failure } from '../answers';
import { isFromHere, nextOf } from '../requests';
import { send, type Pages, type ServeTools } from '../serve';
import { viewerOf } from '../viewer';
import { signInPage } from './sign-in-page';

const KEY_MAX = 500;
const parseForm = express.text({ type: 'application/x-www-form-urlencoded', limit: 10_000 });

/** Signing in with an API key, and signing out. */
export function serveSignIn(app: Express, tools: ServeTools & { signIn: SignIn }): void {
  const { sessions, clock, signIn, dress } = tools;
  app.get('/sign-in', ...dress, async (request, response) => {
    const visitor = await sessions.visitorOf(request);
    const viewer = viewerOf(request, visitor, clock);
    const next = nextOf(saidIn(request.originalUrl).get('next'));
    const shown = visitor ? elsewhere(next) : signInPage(viewer, { next, failure: null, httpStatus: 200 });
    send({ request, response }, viewer, shown, tools);
  });

  app.post('/sign-in', ...dress, parseForm, async (request, response) => {
    const viewer = viewerOf(request, null, clock);
    const body: unknown = request.body;
    const form = new URLSearchParams(typeof body === 'string' ? body : '');
    const next = nextOf(form.get('next'));
    const refuse = (httpStatus: number, rule: string) => {
      const failure = failureOf(httpStatus, rule);
      send({ request, response }, viewer, signInPage(viewer, { next, failure, httpStatus }), tools);
    };
    // There is no session yet that a token could be bound to: where the form comes from is what counts.
    if (!isFromHere(request)) return refuse(403, viewer.words.signIn.foreign);
    const key = (form.get('key') ?? '').trim();
    if (key === '' || key.length > KEY_MAX) return refuse(422, viewer.words.signIn.empty);
    const signed = await signIn.check(key, request.ip);
    switch (signed.kind) {
      case 'wrong':
        return refuse(401, viewer.words.signIn.wrong);
      case 'slowed': {
        response.set('retry-after', String(Math.ceil(signed.retryAfterMs / 1000)));
        return refuse(429, viewer.words.signIn.slowed);
      }
      case 'held':
        await sessions.begin({ request, response }, signed);
        return send({ request, response }, viewer, elsewhere(next, 'signed_in'), tools);
    }
  });
}

/** Ends the session for every copy of its cookie, or all sessions of its key. */
export function serveSignOut(pages: Pages, { sessions }: Pick<ServeTools, 'sessions'>): void {
  pages.post('/sign-out', 'viewer', async ({ request, response }) => {
    await sessions.end({ request, response });
    return elsewhere('/sign-in', 'signed_out');
  });
  pages.post('/sign-out-everywhere', 'viewer', async ({ request, response, visitor }) => {
    await sessions.endAll({ request, response }, visitor);
    return elsewhere('/sign-in', 'signed_out_everywhere');
  });
}

/** The key that was entered is never shown again. */
function failureOf(httpStatus: number, rule: string): Failure {
  const refusal = {
    httpStatus,
    code: 'field_invalid',
    message: rule,
    details: [{ field: 'key', rule }],
    retryAfterMs: null,
  };
  return { form: 'sign-in', refusal, entered: new URLSearchParams() };
}
