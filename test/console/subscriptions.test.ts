import { z } from 'zod';
import { messagesIn } from '../../src/console/messages';
import { subscriptionView } from '../../src/contracts/ops/subscriptions';
import { api } from '../operator/client';
import { useApp } from '../support/app';
import { signedIn, textOf, type PageResponse } from './visitor';

const app = useApp({ role: 'console' });
const { subscriptions: messages } = messagesIn('en');

const FORM = { name: 'Dispatch', url: 'https://receiver.example/changes', include: 'reference' };
const secretIn = ({ html }: PageResponse) => /id="shown-key" value="([^"]+)"/.exec(html)?.[1] ?? null;

async function subscriptions() {
  const answer = await api(app).get('/api/subscriptions');
  return z.object({ items: z.array(subscriptionView) }).parse(answer.body).items;
}

test('shows the secret of a new subscription once, on an uncached page, also when the form is sent twice', async () => {
  const visitor = await signedIn(app);
  const { html } = await visitor.get('/ops/subscriptions');
  const token = /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? '';
  const body = new URLSearchParams({ form_token: token, form_key: 'the-same-form', ...FORM }).toString();
  const first = await visitor.postRaw('/ops/subscriptions', body);
  const secret = secretIn(first) ?? '';
  expect(secret).toMatch(/^whsec_/);
  expect(first.get('cache-control')).toBe('no-store');

  const second = await visitor.postRaw('/ops/subscriptions', body);
  expect(textOf(second.html)).toContain(messages.shownBefore);
  const list = await visitor.get('/ops/subscriptions');
  expect(textOf(list.html)).toContain('Dispatch');
  for (const page of [second, list]) expect(page.html).not.toContain(secret);
  expect(await subscriptions()).toHaveLength(1);
});

test('pauses, resumes, gives a new secret to and deletes a subscription', async () => {
  const visitor = await signedIn(app);
  const secret = secretIn(await visitor.post('/ops/subscriptions', FORM));
  const [made] = await subscriptions();
  const act = (name: string, fields = {}) => visitor.post(`/ops/subscriptions/${made?.id ?? ''}/${name}`, fields);

  await act('pause');
  expect(await subscriptions()).toMatchObject([{ paused_by: 'person' }]);
  await act('resume');
  expect(await subscriptions()).toMatchObject([{ paused_by: null }]);
  const rotated = secretIn(await act('rotate', { grace_hours: '24' }));
  expect(rotated).toMatch(/^whsec_/);
  expect(rotated).not.toBe(secret);
  await act('remove');
  expect(await subscriptions()).toEqual([]);
});

test('shows a wrong address in the form, with the rule, and stores nothing', async () => {
  const visitor = await signedIn(app);
  const response = await visitor.post('/ops/subscriptions', { ...FORM, url: 'http://receiver.example/' });
  expect(response.status).toBe(422);
  expect(textOf(response.html)).toContain('https://');
  expect(await subscriptions()).toEqual([]);
});
