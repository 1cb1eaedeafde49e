import { messagesIn } from '../../src/console/messages';
import { api, towOf, towPath } from '../operator/client';
import { newTow } from '../operator/world';
import { startApp, type App } from '../support/app';
import { providerVariables, useProvider } from '../support/identity-provider';
import { recordedLog } from '../support/recorded-log';
import { useRedis } from '../support/redis';
import { markupOf, pagePath } from './tow-world';
import { signedOutVisitor, textOf, type Visitor } from './visitor';

/** Forms that are sent after the end of a session that began at an identity provider. */

const redis = useRedis();
const provider = useProvider();
const { log, lines } = recordedLog();
let app: App;

beforeAll(async () => {
  const environment = { ...providerVariables(provider), CONSOLE_KEY_SIGN_IN: 'false' };
  app = await startApp({ redisUrl: redis.url, role: 'console', environment, log });
});
afterAll(() => app.stop());

const PLACE = { plate_number: 'KLM 77', towed_location: 'Olaya Street 4711', latitude: '24.5', longitude: '46.5' };

async function signIn(visitor: Visitor): Promise<void> {
  provider.claims = { sub: 'u-4711', name: 'Layla Haddad', roles: ['towing-desk'] };
  const { location } = await visitor.get('/sign-in/oidc?next=%2Fboard');
  expect((await visitor.get(await provider.signIn(location ?? ''))).location).toBe('/board');
}

/** The hidden fields of a form. */
function hiddenIn(html: string, id: string): URLSearchParams {
  const fields = markupOf(html, id).matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
  return new URLSearchParams([...fields].map(([, name = '', value = '']): [string, string] => [name, value]));
}

/** Sends the form of an element of the tow page after the end of the session. `kept`: the form on the sign-in page. */
async function sentTooLate(visitor: Visitor, sent: { ref: string; id: string; action: string; fields: object }) {
  const form = hiddenIn((await visitor.get(pagePath(sent.ref))).html, sent.id);
  for (const [name, value] of Object.entries(sent.fields)) form.set(name, String(value));
  visitor.cookies.clear();
  const answer = await visitor.postRaw(pagePath(sent.ref, sent.action), form.toString());
  return { answer, token: form.get('form_token') ?? 'missing', kept: hiddenIn(answer.html, 'send-again') };
}

test('keeps a form on the sign-in page until the person has signed in again in another tab, and applies it once', async () => {
  const visitor = signedOutVisitor(app);
  await signIn(visitor);
  const ref = await newTow(app);
  const sent = { ref, id: 'form-started', action: '/started', fields: PLACE };
  const { answer, token, kept } = await sentTooLate(visitor, sent);
  expect(answer.status).toBe(401);
  expect(textOf(answer.html)).toContain('Olaya Street 4711');
  expect(answer.html).not.toContain(token);
  expect(answer.html).toMatch(/<a[^>]+href="\/sign-in\/oidc\?[^>]+ target="_blank"/);
  // Sent before the sign-in it waits on.
  const early = await visitor.postRaw(pagePath(ref, '/started'), kept.toString());
  expect([early.status, hiddenIn(early.html, 'send-again').toString()]).toEqual([401, kept.toString()]);

  await signIn(visitor);
  const offered = await visitor.postRaw(pagePath(ref, '/started'), kept.toString());
  expect([offered.status, (await towOf(app, ref)).state]).toEqual([403, 'requested']);
  const again = hiddenIn(offered.html, 'send-again');
  for (let round = 0; round < 2; round += 1) {
    const { status, location } = await visitor.postRaw(pagePath(ref, '/started'), again.toString());
    expect([status, location]).toEqual([303, pagePath(ref)]);
  }
  expect(await towOf(app, ref)).toMatchObject({ state: 'started', towed_location: 'Olaya Street 4711' });
  expect((await towOf(app, ref)).facts).toHaveLength(1);
  expect(JSON.stringify(lines)).not.toMatch(/KLM 77|Olaya/);
});

test('refuses a form that waited while the crew that it replaces changed', async () => {
  const visitor = signedOutVisitor(app);
  await signIn(visitor);
  const ref = await newTow(app);
  const sent = { ref, id: 'live-assign', action: '/assignment', fields: { crew: 'North' } };
  const { kept } = await sentTooLate(visitor, sent);
  await api(app).post(towPath(ref, '/assignment')).send({ crew: 'South' }).expect(202);
  await signIn(visitor);
  const offered = await visitor.postRaw(pagePath(ref, '/assignment'), kept.toString());
  const again = hiddenIn(offered.html, 'send-again');
  const { status, html } = await visitor.postRaw(pagePath(ref, '/assignment'), again.toString());
  expect(status).toBe(409);
  expect(textOf(html)).toContain(messagesIn('en').refusals.changed_meanwhile);
  expect((await towOf(app, ref)).dispatch.assignment?.crew).toBe('South');
});

test('names the key form as a way to send a form again where both work', async () => {
  const both = await startApp({ redisUrl: redis.url, role: 'console', environment: providerVariables(provider), log });
  try {
    const visitor = signedOutVisitor(both);
    await signIn(visitor);
    const sent = { ref: await newTow(both), id: 'form-started', action: '/started', fields: PLACE };
    const { answer, kept } = await sentTooLate(visitor, sent);
    const { sessionOverHere, sessionOverOrKey } = messagesIn('en').common;
    expect(textOf(answer.html)).toContain(`${sessionOverHere} ${sessionOverOrKey}`);
    expect(kept.size).toBeGreaterThan(0);
  } finally {
    await both.stop();
  }
});
