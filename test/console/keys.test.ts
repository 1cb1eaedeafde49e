import { z } from 'zod';
import { apiKeyView } from '../../src/contracts/operator';
import { wordsOf } from '../../src/console/words';
import { useApp } from '../support/app';
import { linesOf } from '../support/captured-log';
import { useRedis } from '../support/redis';
import { api, newKey } from '../operator/client';
import { signedIn, signedOutVisitor, textOf, type PageResponse, type Visitor } from './visitor';

const app = useApp({ role: 'console' });
const others = useRedis();
const { keys: messages } = wordsOf('en');

const keyIn = ({ html }: PageResponse) => /id="shown-key" value="([^"]+)"/.exec(html)?.[1] ?? null;

async function keys() {
  return z.object({ items: z.array(apiKeyView) }).parse((await api(app).get('/api/keys')).body).items;
}

/** Posts the same form twice, as a page reload does. */
async function twice(visitor: Visitor, path: string, fields: Readonly<Record<string, string>>) {
  const { html } = await visitor.get('/ops/keys');
  const token = /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? '';
  const body = new URLSearchParams({ form_token: token, form_key: 'the-same-form', ...fields }).toString();
  return [await visitor.postRaw(path, body), await visitor.postRaw(path, body)] as const;
}

test('a key is shown once, on a page that nothing keeps, and somebody signs in with it', async () => {
  const visitor = await signedIn(app);
  await visitor.get('/ops/keys');
  const response = await visitor.post('/ops/keys', { name: 'Night shift', role: 'dispatcher' });
  const key = keyIn(response) ?? '';
  expect(key).toMatch(/^thk_/);
  expect(response.status).toBe(200);
  expect(response.get('cache-control')).toBe('no-store');
  expect([...visitor.cookies.values()].join()).not.toContain(key);
  expect(response.html.split(key)).toHaveLength(2);
  const list = await visitor.get('/ops/keys');
  expect(textOf(list.html)).toContain('Night shift dispatcher');
  expect(list.html).not.toContain(key);
  expect((await (await signedIn(app, key)).get('/board')).status).toBe(200);
});

test('the same form sent again makes no second key and does not show the first', async () => {
  const visitor = await signedIn(app);
  const [first, second] = await twice(visitor, '/ops/keys', { name: 'Once', role: 'viewer' });
  expect(keyIn(first)).not.toBeNull();
  expect(keyIn(second)).toBeNull();
  expect(second.html).not.toContain(keyIn(first));
  expect(textOf(second.html)).toContain(messages.shownBefore);
  expect(await keys()).toHaveLength(1);
});

test('a name that is taken is refused beside what was entered', async () => {
  await newKey(app, 'crew', 'Crew 7');
  const visitor = await signedIn(app);
  await visitor.get('/ops/keys');
  const response = await visitor.post('/ops/keys', { name: 'Crew 7', role: 'crew' });
  expect(response.status).toBe(409);
  expect(response.html).toContain('value="Crew 7"');
  expect(response.html).toMatch(/<option value="crew" selected/);
  expect(await keys()).toHaveLength(1);
});

test('a key is rotated: the new text is shown once, and the old one ends when it was said to', async () => {
  const old = await newKey(app, 'viewer', 'Yard');
  const [{ id } = { id: '' }] = await keys();
  const visitor = await signedIn(app);
  await visitor.get('/ops/keys');
  const response = await visitor.post(`/ops/keys/${id}/rotate`, { grace_hours: '0' });
  const key = keyIn(response) ?? '';
  await api(app, old).get('/api/tows').expect(401);
  await api(app, key).get('/api/tows').expect(200);
  const again = await visitor.post(`/ops/keys/${id}/rotate`, { grace_hours: '24' });
  expect(textOf(again.html)).toContain(messages.oldUntil);
  await api(app, key).get('/api/tows').expect(200);
});

test('hours that are no number are refused by the field', async () => {
  await newKey(app, 'viewer', 'Yard');
  const [{ id } = { id: '' }] = await keys();
  const visitor = await signedIn(app);
  await visitor.get('/ops/keys');
  const response = await visitor.post(`/ops/keys/${id}/rotate`, { grace_hours: 'a day' });
  expect(response.status).toBe(422);
  expect(response.html).toMatch(new RegExp(`id="rotate-${id}-grace_hours"[^>]*aria-invalid="true"`));
});

test('a revoked key is gone, and so is whoever had signed in with it', async () => {
  const key = await newKey(app, 'viewer', 'Left the company');
  const [{ id } = { id: '' }] = await keys();
  const gone = await signedIn(app, key);
  const visitor = await signedIn(app);
  await visitor.get('/ops/keys');
  const response = await visitor.post(`/ops/keys/${id}/revoke`);
  expect([response.status, response.location]).toEqual([303, '/ops/keys']);
  expect(await keys()).toEqual([]);
  expect((await gone.get('/board')).location).toMatch(/^\/sign-in/);
  expect((await visitor.post(`/ops/keys/${id}/revoke`)).status).toBe(404);
});

test('nobody below ops sees or makes keys', async () => {
  const visitor = await signedIn(app, await newKey(app, 'dispatcher', 'Dispatcher'));
  expect((await visitor.get('/ops/keys')).status).toBe(403);
  expect((await visitor.post('/ops/keys', { name: 'More', role: 'ops' })).status).toBe(403);
  expect((await signedOutVisitor(app).get('/ops/keys')).location).toMatch(/^\/sign-in/);
  expect((await keys()).map(({ name }) => name)).toEqual(['Dispatcher']);
});

test('no key comes into the log', async () => {
  const secrets: string[] = [];
  const lines = await linesOf({ redisUrl: others.url, role: 'console' }, async (logged) => {
    secrets.push(logged.apiKey);
    const visitor = await signedIn(logged);
    await visitor.get('/ops/keys');
    secrets.push(keyIn(await visitor.post('/ops/keys', { name: 'Logged', role: 'ops' })) ?? '');
    await api(logged).post('/api/keys').send({});
  });
  expect(lines.length).toBeGreaterThan(0);
  expect(secrets.every((secret) => secret.length > 10)).toBe(true);
  for (const secret of secrets) expect(lines.join('\n')).not.toContain(secret);
});
