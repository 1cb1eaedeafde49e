import { z } from 'zod';
import { apiKeyView } from '../../src/contracts/operator';
import { messagesIn } from '../../src/console/messages';
import { useApp } from '../support/app';
import { linesOf } from '../support/captured-log';
import { useRedis } from '../support/redis';
import { api, newKey } from '../operator/client';
import { signedIn, signedOutVisitor, textOf, type PageResponse, type Visitor } from './visitor';

const app = useApp({ role: 'console' });
const others = useRedis();
const { keys: messages } = messagesIn('en');

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

test('shows a new API key once on an uncached page and accepts it at sign-in', async () => {
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

test('offers no change of language or theme on a page with a new API key, because it would lose the key', async () => {
  const visitor = await signedIn(app);
  expect((await visitor.get('/ops/keys')).html).toContain('action="/preferences"');
  const response = await visitor.post('/ops/keys', { name: 'Night shift', role: 'dispatcher' });
  expect(keyIn(response)).toMatch(/^thk_/);
  expect(response.html).not.toContain('action="/preferences"');
});

test('creates one API key when the same form is sent twice and does not show it again', async () => {
  const visitor = await signedIn(app);
  const [first, second] = await twice(visitor, '/ops/keys', { name: 'Once', role: 'viewer' });
  expect(keyIn(first)).not.toBeNull();
  expect(keyIn(second)).toBeNull();
  expect(second.html).not.toContain(keyIn(first));
  expect(textOf(second.html)).toContain(messages.shownBefore);
  expect(await keys()).toHaveLength(1);
});

test('refuses a duplicate API key name with 409 and keeps the entered values', async () => {
  await newKey(app, 'crew', 'Crew 7');
  const visitor = await signedIn(app);
  await visitor.get('/ops/keys');
  const response = await visitor.post('/ops/keys', { name: 'Crew 7', role: 'crew' });
  expect(response.status).toBe(409);
  expect(response.html).toContain('value="Crew 7"');
  expect(response.html).toMatch(/<option value="crew" selected/);
  expect(await keys()).toHaveLength(1);
});

test('shows the new text of a rotated API key and ends the old one after the chosen grace period', async () => {
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

test.each(['a day', '1e1', '0x10'])('refuses the grace period "%s" with 422 at its field', async (grace_hours) => {
  await newKey(app, 'viewer', 'Yard');
  const [{ id } = { id: '' }] = await keys();
  const visitor = await signedIn(app);
  await visitor.get('/ops/keys');
  const response = await visitor.post(`/ops/keys/${id}/rotate`, { grace_hours });
  expect(response.status).toBe(422);
  expect(response.html).toMatch(new RegExp(`id="rotate-${id}-grace_hours"[^>]*aria-invalid="true"`));
});

test('removes a revoked API key and ends the sessions that it started', async () => {
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

test('refuses the API key page to a dispatcher and to a visitor without a session', async () => {
  const visitor = await signedIn(app, await newKey(app, 'dispatcher', 'Dispatcher'));
  expect((await visitor.get('/ops/keys')).status).toBe(403);
  expect((await visitor.post('/ops/keys', { name: 'More', role: 'ops' })).status).toBe(403);
  expect((await signedOutVisitor(app).get('/ops/keys')).location).toMatch(/^\/sign-in/);
  expect((await keys()).map(({ name }) => name)).toEqual(['Dispatcher']);
});

test('writes no API key to the log', async () => {
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
