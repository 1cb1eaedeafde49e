import { formOf, COMPLETE, REQUIRED } from '../operator/forms';
import { WHEREABOUTS } from '../operator/world';
import { towInvoice, towRequest, newSecret } from '../receiver/calls';
import { json, type FakeReply } from '../service/fake-service';
import { imageOf } from '../support/images';
import { useRedis } from '../support/redis';
import { openOutside, refusal, VIOLATION, type Outside } from './outside';
import { z } from 'zod';

/** What people and programs see of towhook, pinned in the files of `outside`. */

const redis = useRedis();
let outside: Outside;
afterEach(() => outside.stop());

const TOW = 'TW-20241120-9F4D1A';
const at = (time: string) => ({ occurred_at: `2024-11-20T${time}:00Z` });
const request = (ref = TOW, more = {}) =>
  towRequest({ violation_reference_id: VIOLATION, towing_reference_id: ref, ...more });
const invoice = (ref = TOW, more = {}) =>
  towInvoice({ violation_reference_id: VIOLATION, towing_reference_id: ref, ...more });
const items = z.object({ items: z.array(z.looseObject({ id: z.string().optional(), state: z.string().optional() })) });

const FILTERS =
  'state=requested q=9F4D q=TW-20241120-9F q=1234 attention=true unsent=true overdue=true crew=Crew%204 crew= ' +
  'order=oldest&limit=1 limit=0 limit=201 cursor=x state=parked more=1';

/** Sends a tow request and waits for its tow. */
async function newTow(ref = TOW): Promise<string> {
  await outside.webhook('POST /tow-request', request(ref), { id: `of ${ref}` });
  const path = `/api/tows/${ref}`;
  await outside.untilApi(path, (body) => z.object({ state: z.literal('requested') }).parse(body));
  return path;
}

/** The deliveries once all of them are processed. */
async function deliveries(count: number): Promise<void> {
  await outside.untilApi('/api/deliveries', (body) => {
    const states = items.parse(body).items.map(({ state }) => state);
    expect([states.length, states.filter((state) => state === 'accepted')]).toEqual([count, []]);
  });
}

test('the answers to webhooks, and the lists of what was received, are the recorded ones', async () => {
  outside = await openOutside(redis.url, 'webhooks');
  const { webhook, api } = outside;
  await webhook('POST /tow/invoice', invoice(), { id: 'msg_0' });
  await deliveries(1);
  await webhook('POST /tow-request', request());
  await deliveries(2);
  await webhook('POST /tow-request', request());
  await webhook('POST /tow-request', request(), { id: 'msg_2' });
  await deliveries(3);
  await webhook('POST /tow/invoice', invoice(TOW, { delay_invoice: { ...CHARGE, invoice_number: 'INV-3' } }), {
    id: 'msg_3',
    offSeconds: 60,
  });
  await deliveries(4);
  await webhook('POST /tow-request', request(TOW, { violation_reference_id: 'V-20241120-OTHER1' }), { id: 'msg_4' });
  await deliveries(5);
  await webhook('POST /tow-request', request(TOW, { metadata: ['odd'] }), { id: 'msg_5' });
  await deliveries(6);
  await webhook('POST /tow-request', request(), { id: null });
  await webhook('POST /tow-request', request(), { id: 'msg_6', secret: newSecret() });
  await webhook('POST /tow-request', '{"towing_reference_id"', { id: 'msg_7' });
  await webhook('POST /tow-request', { violation_reference_id: VIOLATION }, { id: 'msg_8' });
  await webhook('POST /tow-request', { event: 'ping' }, { id: 'msg_9' });
  await webhook('POST /tow-request', request(), { id: 'msg_10', headers: { 'content-type': 'text/plain' } });
  await webhook('POST /tow-request', { ...request(), pad: 'x'.repeat(140_000) }, { id: 'msg_11' });
  await webhook('POST /elsewhere', request(), { id: 'msg_12' });
  await webhook('POST /operator/tow-request/', request('TW-20241120-PREFIX'), { id: 'msg_13' });
  await deliveries(7);
  await webhook('GET /tow-request', '', { id: null });
  const list = items.parse(await api('GET /api/deliveries'));
  for (const { id } of list.items.slice(1, 4)) await api(`GET /api/deliveries/${id}`);
  await api(`POST /api/deliveries/${list.items[0]?.id}/replay`, { body: {} });
  await api('GET /api/deliveries?differing=true');
  await outside.untilApi('/api/refused-calls', (body) => expect(items.parse(body).items).toHaveLength(6));
  await api('GET /api/refused-calls');
  await api('GET /api/other-calls');
  await api(`GET /api/tows/${TOW}`);
  await api('GET /api/differences');
  await api('GET /api/tasks');
  outside.recording.compare();
});

const CHARGE = { invoice_number: 'INV-2', vat_number: '300000000000003', total_amount: 1, paid_amount: 0, tax: 0 };

test('the answers to the facts of a tow, the changes of its state and the calls that follow are the recorded ones', async () => {
  outside = await openOutside(redis.url, 'tow');
  const { api, settled } = outside;
  await outside.makeKeys();
  const tow = await newTow();
  await api(`GET ${tow}`);
  for (const [fact, body, as] of [
    ['detained', {}, 'crew'],
    ['started', {}, 'crew'],
    ['started', { ...WHEREABOUTS, latitude: 99, more: 1 }, 'crew'],
    ['started', { ...WHEREABOUTS, ...at('08:00') }, 'crew'],
    ['detained', at('07:00'), 'crew'],
    ['invoice', { vehicle_type: 'HEAVY' }, 'crew'],
    ['detained', at('09:00'), 'crew'],
    ['canceled', { cancellation_reason: 'gone' }, 'dispatcher'],
    ['payment', {}, 'dispatcher'],
    ['invoice', { vehicle_type: 'HEAVY', delay_in_days: 2 }, 'dispatcher'],
    ['invoice', { vehicle_type: 'HEAVY', delay_in_days: 1 }, 'dispatcher'],
    ['payment', { external_reference: 'receipt-1', ...at('10:00') }, 'dispatcher'],
    ['released', at('11:00'), 'dispatcher'],
    ['released', {}, 'dispatcher'],
  ] as const) {
    await api(`POST ${tow}/${fact}`, { body, as });
    await settled(tow);
  }
  await api('POST /api/queues/reports/pause', { body: { reason: 'to overtake' } });
  const overtaken = await newTow('TW-20241120-OVERTK');
  await api(`POST ${overtaken}/started`, { body: { ...WHEREABOUTS, ...at('08:00') } });
  await api(`POST ${overtaken}/canceled`, { body: { cancellation_reason: 'gone', ...at('08:30') } });
  await api('POST /api/queues/reports/resume', { body: { reason: 'done' } });
  await settled(overtaken);
  await outside.callsOfService();
  outside.recording.compare();
});

test('the answers to decisions about refused reports, their tasks and differences are the recorded ones', async () => {
  outside = await openOutside(redis.url, 'decisions');
  const { api, settled, serviceAnswers } = outside;
  const tow = await newTow();
  const reports = z.object({ reports: z.array(z.object({ id: z.string() })) });
  const decide = async (decision: string, body: unknown) => {
    const id = await outside.untilApi(tow, (answer) => reports.parse(answer).reports.at(-1)?.id);
    await api(`POST ${tow}/reports/${id}/${decision}`, { body });
    await settled(tow);
  };
  const record = async (fact: string, body: unknown, ...answers: FakeReply[]) => {
    serviceAnswers(...answers);
    await api(`POST ${tow}/${fact}`, { body });
    await settled(tow);
  };
  await record('started', { ...WHEREABOUTS, ...at('08:00') }, refusal(400, 'Missing required field'));
  await api('GET /api/tasks');
  serviceAnswers(refusal(404, 'Violation not found'));
  await decide('correct', { plate_number: 'KLM 77' });
  await decide('correct', { plate_number: '' });
  await decide('retry', {});
  await decide('retry', {});
  await record('detained', at('09:00'), refusal(400, 'Missing required field'));
  await decide('waive', {});
  await decide('waive', { reason: 'by phone' });
  await record(
    'invoice',
    { vehicle_type: 'HEAVY', delay_in_days: 0 },
    json({ code: 200, message: 'OK', data: { amounts: [] } }),
  );
  await api('GET /api/tasks?type=contract_changed');
  const kind = items.parse(await api('GET /api/differences')).items[0]?.id ?? '';
  await api(`GET /api/differences/${encodeURIComponent(kind)}/reports`);
  await api(`POST /api/differences/${encodeURIComponent(kind)}/expect`, { body: { reason: 'agreed' } });
  await record('payment', at('10:00'), refusal(400, 'Invalid enum value'));
  await decide('accept', { reason: 'seen at the service' });
  await record('released', at('11:00'), refusal(403, 'Access denied'));
  await outside.callsOfService();
  outside.recording.compare();
});

test('the answers about dispatch data and holds are the recorded ones', async () => {
  outside = await openOutside(redis.url, 'dispatch');
  const { api } = outside;
  await outside.makeKeys();
  const tow = await newTow();
  await api(`GET ${tow}`);
  await api(`POST ${tow}/assignment`, { body: { crew: 'Crew 4', truck: 'T-12' } });
  await api(`POST ${tow}/steps`, { body: { step: 'en_route', ...at('08:00') }, as: 'crew' });
  await api(`POST ${tow}/steps`, { body: { step: 'flying' } });
  await api(`POST ${tow}/yard`, { body: { yard: 'North', slot: 'B7' } });
  await api(`POST ${tow}/notes`, { body: { text: 'gate B' }, as: 'crew' });
  await api(`POST ${tow}/photos`, { form: formOf({}, [{ name: 'a.png', bytes: imageOf(300) }]) });
  const photos = z.object({ dispatch: z.object({ photos: z.array(z.object({ id: z.string() })) }) });
  const photo = await outside.untilApi(tow, (body) => photos.parse(body).dispatch.photos[0]?.id);
  await api(`GET ${tow}/photos/${photo}`, { as: 'viewer' });
  await api(`GET ${tow}/photos/none`);
  await api(`POST ${tow}/started`, { body: WHEREABOUTS });
  await outside.settled(tow);
  await api(`POST ${tow}/yard`, { body: { yard: 'North', slot: 'B7' } });
  await api(`POST ${tow}/holds`, { body: { reason: 'police' }, as: 'dispatcher' });
  await api(`POST ${tow}/released`, { body: {} });
  const holds = z.object({ dispatch: z.object({ holds: z.array(z.object({ id: z.string() })) }) });
  const hold = await outside.untilApi(tow, (body) => holds.parse(body).dispatch.holds[0]?.id);
  await api(`POST ${tow}/holds/${hold}/lift`, { body: { reason: 'settled' } });
  await api(`POST ${tow}/holds/${hold}/lift`, { body: { reason: 'settled' } });
  await api(`POST ${tow}/violation`, { body: { violation_id: 'none' } });
  outside.recording.compare();
});

test('the answers about violations and lookups are the recorded ones', async () => {
  outside = await openOutside(redis.url, 'violations');
  const { api, settled, serviceAnswers } = outside;
  const image = { name: 'a.png', bytes: imageOf(300) };
  const idOf = (body: unknown) => z.object({ id: z.string() }).parse(body).id;
  await api('POST /api/violations', { form: formOf({ plateNumber: 'ABJ 1', plateType: 'BIKE' }) });
  await api('POST /api/violations', { form: formOf(REQUIRED, [{ name: 'a.txt', bytes: Buffer.from('text') }]) });
  serviceAnswers(refusal(400, 'Zone not found'));
  const made = `/api/violations/${idOf(await api('POST /api/violations', { form: formOf(COMPLETE, [image]) }))}`;
  await settled(made);
  await api('POST /api/violations', { form: formOf(COMPLETE) });
  await api(`GET ${made}/images/1`);
  await api(`GET ${made}/images/2`);
  serviceAnswers(refusal(400, 'Invalid enum value'));
  await api(`POST ${made}/correct`, { body: { location: 'Olaya Street', fullName: null } });
  await settled(made);
  serviceAnswers(refusal(400, 'Missing required field'));
  await api(`POST ${made}/images`, { form: formOf({}, [{ ...image, name: 'b.png' }]) });
  await settled(made);
  await api('GET /api/tasks');
  await api(`POST ${made}/retry`, { body: {} });
  await settled(made);
  await api(`POST ${made}/waive`, { body: { reason: 'too late' } });
  await api('POST /api/queues/violations/pause', { body: { reason: 'to decide' } });
  const waived = idOf(await api('POST /api/violations', { form: formOf({ ...REQUIRED, metadata: '{"id":"w"}' }) }));
  await api(`POST /api/violations/${waived}/waive`, { body: { reason: 'a mistake' } });
  const known = { plateNumber: 'ABJ 1', location: 'Olaya', latitude: 24, longitude: 46 };
  const violations = [{ ...known, metadata_id: '7' }];
  await api('POST /api/violations/known', { body: { violations } });
  await api('POST /api/violations/known', { body: { violations } });
  await api('POST /api/violations/known', { body: { violations: [{ ...known, metadata_id: '7', latitude: 25 }] } });
  await api('POST /api/violations/known', { body: { violations: [known] } });
  await api('GET /api/violations?state=waived');
  await api('GET /api/violations/none');
  const tow = await newTow();
  await api(`GET ${tow}`);
  await api(`POST ${tow}/violation`, { body: { violation_id: '7' } });
  await api(`GET /api/zones/${REQUIRED.zoneId}/capacity`);
  await api('GET /api/zones/1/capacity');
  const { zoneId, plateNumber, plateType } = REQUIRED;
  await api('POST /api/tickets/check', { body: { zoneId, plateNumber, plateType } });
  serviceAnswers(refusal(400, 'Zone not found'));
  await api('POST /api/tickets/check', { body: { zoneId, plateNumber: 'KLM 7', plateType } });
  await outside.callsOfService();
  outside.recording.compare();
});

test('the filters of lists, the errors of each kind and the repeats under one Idempotency-Key are the recorded ones', async () => {
  outside = await openOutside(redis.url, 'calls');
  const { api } = outside;
  await outside.makeKeys();
  await api('POST /api/queues/reports/pause', { body: {} });
  const [first, second] = [await newTow(), await newTow('TW-20241120-SECOND')];
  const key = { 'idempotency-key': 'k-1' };
  await api(`POST ${first}/started`, { body: WHEREABOUTS, headers: key });
  await api(`POST ${first}/started`, { body: WHEREABOUTS, headers: key });
  await api(`POST ${first}/started`, { body: { ...WHEREABOUTS, latitude: 25 }, headers: key });
  await api(`POST ${first}/started`, { body: WHEREABOUTS, headers: { 'idempotency-key': 'x'.repeat(300) } });
  await api(`POST ${second}/assignment`, { body: { crew: 'Crew 4' } });
  for (const query of FILTERS.split(' ')) {
    const page = items
      .extend({ next_cursor: z.string().nullable() })
      .safeParse(await outside.untilApi(`/api/tows?${query}`, (body) => body));
    if (!page.success) await api(`GET /api/tows?${query}`);
    else
      outside.recording.add(`GET /api/tows?${query}`, {
        refs: page.data.items.map((each) => each['towing_reference_id']),
        more: page.data.next_cursor !== null,
      });
  }
  for (const path of [
    '/api/violations?state=x',
    '/api/tasks?type=x',
    '/api/deliveries?differing=1',
    '/api/audit?limit=x',
    '/api/events?since=x',
  ])
    await api(`GET ${path}`);
  for (const as of ['a caller without a key', 'a wrong key'] as const) await api(`GET ${first}`, { as });
  await api(`GET ${first}`, { headers: { authorization: 'Basic x' }, as: 'a caller without a key' });
  await api(`POST ${first}/detained`, { as: 'viewer', body: {} });
  for (const path of ['/api/keys', '/api/audit', '/api/refused-calls']) await api(`GET ${path}`, { as: 'dispatcher' });
  await api('GET /api/nothing');
  await api('GET /api/tows/%E0%A4%A');
  await api('GET /api/tows/TW-none');
  await api('POST /api/tows/TW-none/detained', { body: {} });
  await api('POST /api/tasks/none/resolve', { body: {} });
  await api(`PUT ${first}`, { body: {} });
  await api(`POST ${first}/detained`, { body: '{"a":' });
  await api(`POST ${first}/detained`, { body: '[]' });
  await api(`POST ${first}/detained`, { body: '{}', headers: { 'content-type': 'text/plain' } });
  await api(`POST ${first}/detained`, { body: '{}', headers: { 'content-encoding': 'gzip' } });
  await api(`POST ${first}/notes`, { body: { text: 'x'.repeat(2_000_000) } });
  await api('POST /api/violations', { body: {} });
  await api('POST /api/queues/none/pause', { body: {} });
  outside.recording.compare();
});

test('the answers about keys, audit, queues and the state of the installation are the recorded ones', async () => {
  outside = await openOutside(redis.url, 'installation');
  const { api } = outside;
  const made = z.object({ id: z.string() });
  const { id } = made.parse(await api('POST /api/keys', { body: { name: 'yard', role: 'crew' } }));
  await api('POST /api/keys', { body: { name: 'yard', role: 'crew' } });
  await api('POST /api/keys', { body: { name: 'gate', role: 'king' } });
  await api('GET /api/keys');
  await api(`POST /api/keys/${id}/rotate`, { body: { grace_hours: 1 } });
  await api(`DELETE /api/keys/${id}`);
  await api(`DELETE /api/keys/${id}`);
  await api('POST /api/queues/reports/pause', { body: { reason: 'deploying' } });
  await api('GET /api/queues');
  await api('POST /api/queues/reports/resume', { body: {} });
  await api('GET /api/operations');
  await api('POST /api/operations/invoice/resume', { body: {} });
  await api('POST /api/operations/none/resume', { body: {} });
  await api('GET /api/conservation', { shapeOnly: true });
  await api('GET /api/service', { shapeOnly: true });
  await api('GET /api/shadow');
  await api('GET /api/audit');
  await api('GET /api/audit?towing_reference_id=TW-none');
  outside.recording.compare();
});
