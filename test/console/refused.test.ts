import { messagesIn } from '../../src/console/messages';
import { newKey, api, towsPage } from '../operator/client';
import { useApp } from '../support/app';
import { signedIn, textOf } from './visitor';
import { page } from '../../src/contracts/paging';
import { taskView } from '../../src/contracts/operator';
import { lateRequestTask } from '../../src/domain/ops/tasks';
import { violationView } from '../../src/contracts/violation/violations';
import { newTow, newViolation } from '../operator/world';
import { rowsIn } from './board';
import { openOn } from './task-world';

const app = useApp({ role: 'console' });

describe('console: refused forms', () => {
  test('refuses a form without the form token of its session with 403', async () => {
    const visitor = await signedIn(app);
    const other = await signedIn(app);
    const foreign = /name="form_token" value="([^"]+)"/.exec((await other.get('/shortcuts')).html)?.[1] ?? '';
    for (const token of ['', 'wrong', foreign]) {
      const response = await visitor.postRaw('/sign-out', new URLSearchParams({ form_token: token }).toString());
      expect(response.status).toBe(403);
    }
    expect((await visitor.get('/board')).status).toBe(200);
  });

  test('refuses a form that is too large with 413 in both languages', async () => {
    const visitor = await signedIn(app);
    for (const language of ['en', 'ar'] as const) {
      visitor.cookies.set('towhook_language', language);
      const response = await visitor.postRaw('/sign-out', `form_token=${'x'.repeat(300_000)}`);
      expect(response.status).toBe(413);
      const { tooLarge } = messagesIn(language).common.errors;
      expect(response.html).toContain(`<title>${tooLarge} ·`);
      expect(response.html).toContain(`<h1>${tooLarge}</h1>`);
      expect(response.html).toContain(messagesIn(language).common.formTooLarge);
    }
  });

  test('answers 415 to a form that cannot be decoded and explains it', async () => {
    const visitor = await signedIn(app);
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=klingon' };
    const response = await visitor.postRaw('/sign-out', 'form_token=x', headers);
    expect(response.status).toBe(415);
    expect(response.html).toContain(`<h1>${messagesIn('en').common.errors.refused}</h1>`);
    expect(textOf(response.html)).toContain(messagesIn('en').common.formUnreadable);
  });
});

test.each([
  ['/board/assign', '/board'],
  ['/lookups/ticket', '/lookups'],
  ['/tows/T%2F1/started', '/tows/T%2F1'],
  ['/tows/T%2F1/reports/started-1/waive', '/tows/T%2F1'],
  ['/violations/vio-1/images', '/violations/vio-1'],
  ['/ops/keys/key-1/rotate', '/ops/keys'],
  ['/ops/queues/outbox/pause', '/ops'],
  ['/ops/deliveries/dlv_1/replay', '/ops/deliveries/dlv_1'],
  ['/ops/service/dif-1/expect', '/ops/service/dif-1'],
  ['/sign-out', '/board'],
])('redirects a GET of %s, the address of a form, to the page above it', async (address, page) => {
  const response = await (await signedIn(app)).get(address);
  expect([response.status, response.location]).toEqual([303, page]);
});

test('answers 400 with security headers to a path that cannot be decoded', async () => {
  const response = await (await signedIn(app)).get('/tows/%E0%A4%A');
  expect(response.status).toBe(400);
  expect(response.html).toContain(`<h1>${messagesIn('en').common.notFound}</h1>`);
  expect(response.get('content-security-policy')).toContain("default-src 'none'");
});

test('lets htmx load the page again when the token of a refresh belongs to an earlier session', async () => {
  const key = await newKey(app, 'dispatcher');
  const visitor = await signedIn(app, key);
  for (const address of ['/board/live', '/violations/live', '/tasks/live']) {
    const old = /name="form_token" value="([^"]+)"/.exec((await visitor.get('/shortcuts')).html)?.[1] ?? '';
    await visitor.post('/sign-in', { key });
    const body = new URLSearchParams({ form_token: old }).toString();
    const response = await visitor.postRaw(address, body, { 'hx-request': 'true' });
    expect([response.status, response.get('hx-refresh'), response.html]).toEqual([403, 'true', '']);
  }
});

test('lets htmx load the page again when the role of the session may not see a part', async () => {
  const crew = await signedIn(app, await newKey(app, 'crew', 'crew of a part'));
  const response = await crew.get('/ops/keys', { 'hx-request': 'true' });
  expect([response.status, response.get('hx-refresh'), response.html]).toEqual([403, 'true', '']);
  expect((await crew.get('/ops/keys')).get('hx-refresh')).toBeUndefined();
});

test('the board takes the cursor of the API with its filters alone', async () => {
  const [first, second] = [await newTow(app), await newTow(app)];
  const visitor = await signedIn(app);
  const { next_cursor: cursor } = await towsPage(app, { limit: '1', state: 'requested,started,detained' });
  const refsAt = async (others: string) => rowsIn((await visitor.get(`/board?${others}&cursor=${cursor}`)).html);
  expect(await refsAt('')).toEqual([first]);
  expect(await refsAt('state=all')).toEqual([second, first]);
  expect(await refsAt('order=oldest')).toEqual([first, second]);
});

test.each(['', 'state=pending'])(
  'the violations take the cursor of the API with their filters alone: %s',
  async (filter) => {
    const [first, second] = [await newViolation(app), await newViolation(app)];
    const visitor = await signedIn(app);
    const answer = await api(app).get(`/api/violations?limit=1&${filter}`);
    const cursor = page(violationView).parse(answer.body).next_cursor ?? '';
    const idsAt = async (others: string) => {
      const { html } = await visitor.get(`/violations?${others}&cursor=${cursor}`);
      return [...html.matchAll(/<tr[^>]* id="violation-([^"]+)"/g)].map(([, id]) => id);
    };
    expect(await idsAt(filter)).toEqual([first]);
    expect(await idsAt(`${filter}&q=AB`)).toHaveLength(2);
    expect(await idsAt(filter === '' ? 'state=pending' : '')).toEqual([second, first]);
  },
);

test('the tasks take the cursor of the API with their filters alone', async () => {
  const refs = [await newTow(app), await newTow(app)];
  for (const ref of refs) await openOn(app, ref, lateRequestTask('D-1', 'V-1'));
  const visitor = await signedIn(app);
  const answer = await api(app).get('/api/tasks?limit=1&order=oldest');
  const cursor = page(taskView).parse(answer.body).next_cursor ?? '';
  const refsAt = async (others: string) => {
    const { html } = await visitor.get(`/tasks?${others}&cursor=${cursor}`);
    return refs.filter((ref) => html.includes(`href="/tows/${ref}"`));
  };
  expect(await refsAt('')).toEqual(refs.slice(1));
  expect(await refsAt('order=newest')).toEqual(refs);
  expect(await refsAt('type=late_request')).toEqual(refs);
});
