import request from 'supertest';
import { messagesIn } from '../../src/console/messages';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { api, deliveriesPage, newKey } from '../operator/client';
import { signedIn, textOf } from './visitor';

const app = useApp();
const { deliveries: messages } = messagesIn('en');

/** Posts a webhook body to the receiver; returns the status. */
async function postWebhook(path: string, body: string): Promise<number> {
  return (await request(app.receiverUrl).post(path).type('application/json').send(body)).status;
}

const towRequest = (ref: string, more = '') =>
  `{ "towing_reference_id":"${ref}", "violation_reference_id": "V-1"${more} }`;

/** Waits until the only delivery is processed; returns its id. */
async function processedId(): Promise<string> {
  return eventually(async () => {
    const { items } = await deliveriesPage(app);
    expect(items.map(({ state }) => state)).toEqual(['processed']);
    return items[0]?.id ?? '';
  });
}

test('explains an empty list of deliveries and an empty list of refused calls', async () => {
  const visitor = await signedIn(app);
  expect(textOf((await visitor.get('/ops/deliveries')).html)).toContain(messages.none);
  expect(textOf((await visitor.get('/ops/deliveries?refused=true')).html)).toContain(messages.noneRefused);
});

test('lists a delivery with its tow and its effect', async () => {
  await postWebhook('/tow-request', towRequest('TW-1'));
  const id = await processedId();
  const { html } = await (await signedIn(app)).get('/ops/deliveries');
  expect(html).toContain(`href="/ops/deliveries/${id}"`);
  expect(html).toContain('href="/tows/TW-1"');
  expect(textOf(html)).toContain(`${messages.states.processed} ${messages.verdicts.created}`);
});

test('splits the deliveries into pages and redirects a broken cursor to the first page', async () => {
  await Promise.all(Array.from({ length: 53 }, (_, at) => postWebhook('/tow-request', towRequest(`TW-${at}`))));
  const visitor = await signedIn(app);
  const first = await visitor.get('/ops/deliveries');
  const next = /href="(\/ops\/deliveries\?cursor=[^"]+)"/.exec(first.html)?.[1] ?? '';
  const second = await visitor.get(next.replaceAll('&amp;', '&'));
  const idsIn = (html: string) => [...html.matchAll(/id="delivery-(dlv_\w+)"/g)].map(([, id]) => id);
  expect(idsIn(first.html)).toHaveLength(50);
  expect(idsIn(second.html)).toHaveLength(3);
  expect(new Set([...idsIn(first.html), ...idsIn(second.html)]).size).toBe(53);
  expect((await visitor.get('/ops/deliveries?cursor=nonsense')).location).toBe('/ops/deliveries');
});

test('shows the body of a delivery unchanged and indented, with exact numbers and escaped markup', async () => {
  const body = towRequest(
    'TW-1',
    ', "amount": 100.50, "big": 12345678901234567890, "note": "<script>alert(1)</script>"',
  );
  await postWebhook('/tow-request', body);
  const { html } = await (await signedIn(app)).get(`/ops/deliveries/${await processedId()}`);
  expect(html).not.toContain('<script>alert');
  const [indented = '', raw = ''] = [...html.matchAll(/<pre[^>]*>([^]*?)<\/pre>/g)].map(([, text]) => text);
  expect(textOf(raw)).toBe(textOf(body.replaceAll('<', '&lt;').replaceAll('>', '&gt;')));
  expect(indented).toContain('\n  &quot;amount&quot;: 100.50,\n  &quot;big&quot;: 12345678901234567890,\n');
});

test('shows refused calls to ops with their cause and the rules that they broke, without values', async () => {
  expect(await postWebhook('/tow-request', '{"towing_reference_id":"","plate":"ABJ-1234"}')).toBe(400);
  const visitor = await signedIn(app);
  const refused = () => visitor.get('/ops/deliveries?refused=true');
  const text = await eventually(async () => {
    const shown = textOf((await refused()).html);
    expect(shown).toContain('towing_reference_id : must be a non-empty string');
    return shown;
  });
  expect(text).toContain(messagesIn('en').webhooks.reasons.contract_broken.cause);
  expect(text).toContain('plate: string');
  expect(text).not.toContain('ABJ-1234');
});

test('shows no refused calls to a viewer', async () => {
  const viewer = await signedIn(app, await newKey(app, 'viewer'));
  expect((await viewer.get('/ops/deliveries')).html).not.toContain('refused=true');
  expect((await viewer.get('/ops/deliveries?refused=true')).location).toBe('/ops/deliveries');
});

test('answers 404 for an unknown delivery', async () => {
  expect((await (await signedIn(app)).get('/ops/deliveries/dlv_nowhere')).status).toBe(404);
});

test('replays a delivery for ops and records the replay in the audit', async () => {
  await postWebhook('/tow-request', towRequest('TW-1'));
  const id = await processedId();
  const visitor = await signedIn(app);
  await visitor.get(`/ops/deliveries/${id}`);
  const response = await visitor.post(`/ops/deliveries/${id}/replay`);
  expect([response.status, response.location]).toEqual([303, `/ops/deliveries/${id}`]);
  await eventually(async () => expect((await deliveriesPage(app)).items[0]).toMatchObject({ replays: 1 }));
  expect((await api(app).get('/api/audit')).text).toContain('delivery.replayed');
});

test('neither offers the replay of a delivery to a dispatcher nor accepts it', async () => {
  await postWebhook('/tow-request', towRequest('TW-1'));
  const id = await processedId();
  const visitor = await signedIn(app, await newKey(app, 'dispatcher'));
  expect((await visitor.get(`/ops/deliveries/${id}`)).html).not.toContain('/replay');
  expect((await visitor.post(`/ops/deliveries/${id}/replay`)).status).toBe(403);
  expect((await deliveriesPage(app)).items[0]).toMatchObject({ replays: 0 });
});

test('explains what a parked delivery waits for and links no tow', async () => {
  await postWebhook(
    '/tow/invoice',
    '{"towing_reference_id":"TW-9","violation_reference_id":"V-1","towing_invoice":{}}',
  );
  const id = await eventually(async () => {
    const { items } = await deliveriesPage(app);
    expect(items.map(({ state }) => state)).toEqual(['parked']);
    return items[0]?.id ?? '';
  });
  const { html } = await (await signedIn(app)).get(`/ops/deliveries/${id}`);
  expect(textOf(html)).toContain(messages.parked);
  expect(html).not.toContain('href="/tows/TW-9"');
});
