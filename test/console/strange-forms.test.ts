import { once } from 'node:events';
import { connect } from 'node:net';
import { STRANGE_FORMS_MAX } from '../../src/store/person/source-limits';
import { eventually } from '../support/eventually';
import { recordedLog } from '../support/recorded-log';
import { startApp, type App } from '../support/app';
import { useOwnRedis } from '../support/redis';
import { signedIn, signedOutVisitor, textOf } from './visitor';

/** Forms of visitors without a session. */

const redis = useOwnRedis();
const { log, lines } = recordedLog();
let app: App;

beforeEach(async () => {
  app = await startApp({ redisUrl: redis.url, role: 'console', environment: { TRUST_PROXY: '127.0.0.1' }, log });
});
afterEach(() => app.stop());

const MANY_FIELDS = 'a=&'.repeat(63_000);
const BUSY = { 'x-forwarded-for': '192.0.2.1' };
const OTHER = { 'x-forwarded-for': '192.0.2.2' };
const TOO_LARGE = 'Nothing was saved. Enter less text or select fewer rows';

async function useUp(): Promise<void> {
  for (let index = 0; index < STRANGE_FORMS_MAX; index += 1) {
    expect((await signedOutVisitor(app).postRaw('/tasks', 'reason=words', BUSY)).status).toBe(401);
  }
}

const metrics = async () => (await app.foundation.metrics.text()).text;

test.each([
  ['/tows/x/notes', MANY_FIELDS],
  ['/sign-in', MANY_FIELDS],
  ['/tasks', 'a=&'.repeat(100)],
])('refuses a form of more than 100 fields to %s, with a session or without', async (path, body) => {
  for (const visitor of [signedOutVisitor(app), await signedIn(app)]) {
    const { status, html } = await visitor.postRaw(path, body);
    expect([status, textOf(html).includes(TOO_LARGE)]).toEqual([413, true]);
  }
  expect(await metrics()).toContain('towhook_forms_refused_total{reason="too_large",installation="main"} 2');
});

test('carries no form of more than 100 fields through the sign-in', async () => {
  const form = { key: 'thk_wrong', unsaved_path: '/tasks', unsaved: `reason=words&${MANY_FIELDS.slice(0, 60_000)}` };
  const { status, html } = await signedOutVisitor(app).post('/sign-in', form);
  expect([status, html.includes('words')]).toEqual([401, false]);
});

test('keeps a form of 100 fields', async () => {
  const body = Array.from({ length: 100 }, (_, index) => `f${index}=1`).join('&');
  expect((await signedOutVisitor(app).postRaw('/tasks', body)).status).toBe(401);
});

test('reads no further form of a source without a session, and logs it once', async () => {
  await useUp();
  const refused = await signedOutVisitor(app).postRaw('/tasks', 'reason=words', BUSY);
  expect([refused.status, Number(refused.get('retry-after')) > 0]).toEqual([429, true]);
  expect(textOf(refused.html)).toContain('Too many forms came from your address without signing in.');

  const { hostname, port } = new URL(app.consoleUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  // The answer comes before the body.
  const head = 'accept: text/html\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 100000';
  socket.write(`POST /tasks HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 192.0.2.1\r\n${head}\r\n\r\n`);
  const answer: unknown[] = await once(socket, 'data');
  expect(String(answer[0])).toMatch(/^HTTP\/1\.1 429 /);
  socket.destroy();

  expect(await metrics()).toContain('towhook_forms_refused_total{reason="too_many",installation="main"} 2');
  const said = lines.filter(({ event, source }) => event === 'console.form_refused' && source === '192.0.2.1');
  expect(said).toEqual([expect.objectContaining({ level: 'warn', reason: 'too_many', source: '192.0.2.1' })]);
});

test('lets a source over its limit sign in, and other sources and sessions send forms', async () => {
  const visitor = await signedIn(app);
  await useUp();
  const signed = await signedOutVisitor(app).postRaw('/sign-in', `key=${app.apiKey}&next=/tasks`, BUSY);
  expect([signed.status, signed.location]).toEqual([303, '/tasks']);
  expect((await signedOutVisitor(app).postRaw('/tasks', 'reason=words', OTHER)).status).toBe(401);
  expect((await visitor.postRaw('/sign-out', 'form_token=wrong', BUSY)).status).toBe(403);
});

test('shows no form of many fields again while Redis is down, and reads few of one source', async () => {
  const [kept, dropped] = ['name="reason" value="words"', 'name="a"'];
  await redis.kill();
  const many = await signedOutVisitor(app).postRaw('/tows/x/notes', MANY_FIELDS, { cookie: 'towhook_session=x' });
  const asked = async () =>
    signedOutVisitor(app).postRaw('/tasks', 'reason=words', { ...BUSY, cookie: 'towhook_session=x' });
  const first = await asked();
  for (let index = 1; index < STRANGE_FORMS_MAX; index += 1) await asked();
  const last = await asked();
  await redis.start();
  await eventually(() => app.foundation.redis.ping());
  expect([many.status, many.html.includes(dropped)]).toEqual([503, false]);
  expect([first.status, first.html.includes(kept)]).toEqual([503, true]);
  expect([last.status, last.html.includes(kept)]).toEqual([503, false]);
});
