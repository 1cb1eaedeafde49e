import { wordsOf } from '../../src/console/words';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { deliveriesPage, get, newKey } from '../operator/client';
import { signedIn, textOf } from './visitor';

const app = useApp();
const { deliveries: words } = wordsOf('en');

async function post(path: string, body: string): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(`${app.receiverUrl}${path}`, { method: 'POST', headers, body })).status;
}

const request = (ref: string, more = '') =>
  `{ "towing_reference_id":"${ref}", "violation_reference_id": "V-1"${more} }`;

/** The one delivery there is, once it is processed. */
async function processedId(): Promise<string> {
  return eventually(async () => {
    const { items } = await deliveriesPage(app);
    expect(items.map(({ state }) => state)).toEqual(['processed']);
    return items[0]?.id ?? '';
  });
}

test('nothing to show is told as such, in both lists', async () => {
  const visitor = await signedIn(app);
  expect(textOf((await visitor.get('/ops/deliveries')).html)).toContain(words.none);
  expect(textOf((await visitor.get('/ops/deliveries?quarantined=true')).html)).toContain(words.noneBroken);
});

test('a delivery is listed with its tow and what it did', async () => {
  await post('/tow-request', request('TW-1'));
  const id = await processedId();
  const { html } = await (await signedIn(app)).get('/ops/deliveries');
  expect(html).toContain(`href="/ops/deliveries/${id}"`);
  expect(html).toContain('href="/tows/TW-1"');
  expect(textOf(html)).toContain(`${words.states.processed} ${words.verdicts.created}`);
});

test('the list has pages, and a place that is none of them leads to the first', async () => {
  await Promise.all(Array.from({ length: 53 }, (_, at) => post('/tow-request', request(`TW-${at}`))));
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

test('its body is shown as it came and indented, number for number, and runs nothing', async () => {
  const body = request('TW-1', ', "amount": 100.50, "big": 12345678901234567890, "note": "<script>alert(1)</script>"');
  await post('/tow-request', body);
  const { html } = await (await signedIn(app)).get(`/ops/deliveries/${await processedId()}`);
  expect(html).not.toContain('<script>alert');
  const [indented = '', raw = ''] = [...html.matchAll(/<pre[^>]*>([^]*?)<\/pre>/g)].map(([, text]) => text);
  expect(textOf(raw)).toBe(textOf(body.replaceAll('<', '&lt;').replaceAll('>', '&gt;')));
  expect(indented).toContain('\n  &quot;amount&quot;: 100.50,\n  &quot;big&quot;: 12345678901234567890,\n');
});

test('calls that broke the contract are shown with the rules they broke', async () => {
  expect(await post('/tow-request', '{"towing_reference_id":"","violation_reference_id":"V-9"}')).toBe(400);
  const text = textOf((await (await signedIn(app)).get('/ops/deliveries?quarantined=true')).html);
  expect(text).toContain('towing_reference_id : must be a non-empty string');
  expect(text).toContain('"violation_reference_id":"V-9"');
});

test('a delivery that nobody has is missing', async () => {
  expect((await (await signedIn(app)).get('/ops/deliveries/dlv_nowhere')).status).toBe(404);
});

test('ops have a delivery processed once more, and the audit says who', async () => {
  await post('/tow-request', request('TW-1'));
  const id = await processedId();
  const visitor = await signedIn(app);
  await visitor.get(`/ops/deliveries/${id}`);
  const shown = await visitor.post(`/ops/deliveries/${id}/replay`);
  expect([shown.status, shown.location]).toEqual([303, `/ops/deliveries/${id}`]);
  await eventually(async () => expect((await deliveriesPage(app)).items[0]).toMatchObject({ replays: 1 }));
  expect((await get(app, '/api/audit')).text).toContain('delivery.replayed');
});

test('nobody below ops is offered that, or can do it', async () => {
  await post('/tow-request', request('TW-1'));
  const id = await processedId();
  const visitor = await signedIn(app, await newKey(app, 'dispatcher'));
  expect((await visitor.get(`/ops/deliveries/${id}`)).html).not.toContain('/replay');
  expect((await visitor.post(`/ops/deliveries/${id}/replay`)).status).toBe(403);
  expect((await deliveriesPage(app)).items[0]).toMatchObject({ replays: 0 });
});

test('a parked delivery says what it waits for, and links to no tow', async () => {
  await post('/tow/invoice', '{"towing_reference_id":"TW-9","violation_reference_id":"V-1","towing_invoice":{}}');
  const id = await eventually(async () => {
    const { items } = await deliveriesPage(app);
    expect(items.map(({ state }) => state)).toEqual(['parked']);
    return items[0]?.id ?? '';
  });
  const { html } = await (await signedIn(app)).get(`/ops/deliveries/${id}`);
  expect(textOf(html)).toContain(words.parked);
  expect(html).not.toContain('href="/tows/TW-9"');
});
