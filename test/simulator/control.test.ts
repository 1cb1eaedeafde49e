import request from 'supertest';
import { eventually } from '../support/eventually';
import { requestOf } from './requests';
import { endAll, matching, simulate, startOperator } from './support';

/** The control API. */
afterEach(endAll);

test('answers an empty tow order with generated references and metadata', async () => {
  const simulator = await simulate();
  const response = await simulator.control('POST', '/tow-requests');

  expect([response.status, response.body]).toEqual([
    201,
    {
      items: [
        {
          violation_reference_id: matching(/^V-\d{8}-[A-Z0-9]{6}$/),
          towing_reference_id: matching(/^TW-\d{8}-[A-Z0-9]{6}$/),
          metadata: { id: matching(/\S/) },
        },
      ],
    },
  ]);
});

test('orders as many tows as count asks for, each with unique references', async () => {
  const simulator = await simulate();
  const tows = await simulator.orderTows({ count: 50, send: false });

  expect(new Set(tows.map(({ towing_reference_id }) => towing_reference_id)).size).toBe(50);
  expect(new Set(tows.map(({ violation_reference_id }) => violation_reference_id)).size).toBe(50);
});

test('creates the violation of a tow order when it is unknown, and reuses it when it is known', async () => {
  const simulator = await simulate();
  const first = await simulator.orderTow({ violation_reference_id: 'V-20260101-MINE01', metadata: { id: 'a', x: 1 } });
  const second = await simulator.orderTow({ violation_reference_id: 'V-20260101-MINE01' });
  const third = await simulator.orderTow({ violation_reference_id: 'V-20260101-MINE01', metadata: {} });

  expect(first).toMatchObject({ violation_reference_id: 'V-20260101-MINE01', metadata: { id: 'a', x: 1 } });
  expect(second.metadata).toEqual({ id: 'a', x: 1 });
  expect(third.metadata).toEqual({});
  expect((await simulator.world()).counts).toMatchObject({ violations: 1, tows: 3 });
  expect((await simulator.operate('started', requestOf('started', second))).status).toBe(200);
});

test('sends the tow request of a tow ordered with send false once per send call, each time as a new webhook', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url });
  const tow = await simulator.orderTow({ send: false });
  expect(await simulator.attempts()).toEqual([]);

  const path = `/tow-requests/${tow.towing_reference_id}/send`;
  await simulator.control('POST', path).expect(202);
  await simulator.control('POST', path, {}).expect(202);
  const posted = await operator.received(2);
  expect(posted.map(({ body }) => body)).toEqual([tow, tow]);
  expect(posted[0]?.headers['webhook-id']).not.toBe(posted[1]?.headers['webhook-id']);
  await simulator.control('POST', '/tow-requests/TW-UNKNOWN/send').expect(404);
});

test('sends an invoice webhook before the invoice is created and before its tow request is sent', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url });
  const tow = await simulator.orderTow({ send: false });
  const { towing_reference_id } = tow;
  await simulator.control('POST', '/invoices', { towing_reference_id }).expect(202);

  const [posted] = await operator.received(1);
  expect(posted?.body).toMatchObject({
    ...tow,
    towing_invoice: { total_amount: 345 },
    delay_invoice: { total_amount: 0 },
  });
  expect((await simulator.world()).tows).toMatchObject([{ invoices: 0 }]);
});

test('creates the tow of an invoice webhook for an unknown reference, whose tow request can follow', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url });
  const towing_reference_id = 'TW-20260101-EARLY1';
  await simulator.control('POST', '/invoices', { towing_reference_id });
  await operator.received(1);
  await simulator.control('POST', `/tow-requests/${towing_reference_id}/send`);
  const [invoice, towRequest] = await operator.received(2);

  expect(towRequest?.body).toMatchObject({ towing_reference_id });
  expect(invoice?.body).toMatchObject(towRequest?.body ?? { never: true });
});

test('sends an invoice webhook with other amounts than the created invoice has', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, invoiceWebhookDelayMs: 60_000 });
  const tow = await simulator.orderTow({ send: false });
  await simulator.operate('invoice', requestOf('invoice', tow));
  const { towing_reference_id } = tow;
  await simulator.control('POST', '/invoices', { towing_reference_id, towing_invoice: { total_amount: '400.00' } });

  expect((await operator.received(1))[0]?.body).toMatchObject({ towing_invoice: { total_amount: '400.00', tax: 45 } });
});

test('lists calls in order of arrival with secrets hidden, until they are deleted', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow();
  const other = await simulator.orderTow();
  const bearer = await simulator.token('towhook-test', 'very-secret');
  await simulator.operate('detained', requestOf('detained', tow), { bearer, prefix: '/api' });
  await simulator.operate('capacity', requestOf('capacity', tow), { bearer });
  await simulator.operate('detained', requestOf('detained', other), { bearer: null });

  const text = (await simulator.control('GET', '/calls')).text;
  expect(text).not.toContain('very-secret');
  expect(text).not.toContain(bearer);
  const items = await simulator.calls();
  expect(items.map(({ operation }) => operation)).toEqual(['token', 'detained', 'capacity', 'detained']);
  expect(items[0]?.headers).toMatchObject({ 'x-client-id': 'towhook-test', 'x-client-secret': '[hidden]' });
  expect(items[1]).toMatchObject({
    method: 'PATCH',
    path: '/api/v1/tow/public/towing-status/detained',
    headers: { authorization: 'Bearer [hidden]', 'content-type': 'application/json' },
    body: requestOf('detained', tow),
    status: 200,
    effect: true,
    fault: null,
  });
  expect(items[2]?.path).toContain('/sites/public/site-capacity?zoneId=');
  expect(items[3]).toMatchObject({ status: 401, effect: false });

  expect(await simulator.calls(`?towing_reference_id=${tow.towing_reference_id}`)).toEqual([items[1]]);
  await simulator.control('DELETE', '/calls').expect(204);
  expect(await simulator.calls()).toEqual([]);
});

test('lists the fault rules as they were set, and replaces them all at once', async () => {
  const simulator = await simulate();
  const rules = [
    { operation: 'invoice', fault: 'lost_answer', times: 1 },
    { operation: '*', fault: 'latency', rate: 0.5, ms: 20, path: '/v1' },
  ];
  const put = await simulator.control('PUT', '/faults', rules);

  expect([put.status, put.body]).toEqual([200, { items: rules }]);
  expect((await simulator.control('GET', '/faults')).body).toEqual({ items: rules });
  await simulator.control('PUT', '/faults', []);
  expect((await simulator.control('GET', '/faults')).body).toEqual({ items: [] });
});

test.each<['PUT' | 'POST', string, object, string]>([
  ['PUT', '/faults', [{ operation: 'tow', fault: '500' }], '0.operation'],
  ['PUT', '/faults', [{ operation: 'started', fault: 'sometimes' }], '0.fault'],
  ['PUT', '/faults', [{ operation: 'started', fault: 'duplicate' }], '0.fault'],
  ['PUT', '/faults', [{ operation: 'tow_request', fault: '500' }], '0.fault'],
  ['PUT', '/faults', [{ operation: '*', fault: '500', rate: 2 }], '0.rate'],
  ['PUT', '/faults', [{ operation: '*', fault: '500', rate: 0.5, times: 1 }], '0.rate'],
  ['PUT', '/faults', [{ operation: '*', fault: '500', chance: 1 }], '0.chance'],
  ['PUT', '/faults', { operation: '*' }, 'body'],
  ['POST', '/tow-requests', { count: 0 }, 'count'],
  ['POST', '/tow-requests', { metadata: { id: 7 } }, 'metadata.id'],
  ['POST', '/tow-requests', { counts: 2 }, 'counts'],
  ['POST', '/tow-requests', [], 'body'],
  ['POST', '/invoices', {}, 'towing_reference_id'],
])('refuses %s %s with %j and names the field %s and its rule', async (method, path, body, field) => {
  const simulator = await simulate();
  const response = await simulator.control(method, path, body);

  expect([response.status, response.body]).toEqual([
    400,
    {
      code: 'invalid_request',
      message: matching(/\S/),
      details: [{ field, rule: matching(/\S/) }],
    },
  ]);
});

test('refuses a control body that is not JSON with 400 and orders nothing', async () => {
  const simulator = await simulate();
  const response = await request(simulator.url).post('/simulator/tow-requests').type('text/plain').send('{"count":');

  expect([response.status, response.body]).toEqual([
    400,
    {
      code: 'invalid_request',
      message: 'The body cannot be read.',
      details: [{ field: 'body', rule: 'must be JSON' }],
    },
  ]);
  expect((await simulator.world()).counts).toMatchObject({ tows: 0 });
});

test('answers an unknown control path with 404', async () => {
  const simulator = await simulate();

  expect(await simulator.control('GET', '/nothing')).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

test('counts every kind of record in the world', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, invoiceWebhookDelayMs: 0 });
  const tow = await simulator.orderTow({ send: true });
  const bearer = await simulator.token();
  for (const name of ['started', 'invoice', 'payment', 'violation'] as const) {
    await simulator.operate(name, requestOf(name, tow), { bearer });
  }
  await operator.received(2);
  await eventually(async () => expect((await simulator.world()).counts['webhooks']).toBe(2));

  expect((await simulator.world()).counts).toEqual({
    violations: 2,
    violations_reported: 1,
    tows: 1,
    statuses: 1,
    invoices: 1,
    payments: 1,
    calls: 5,
    webhooks: 2,
  });
});

test('the simulator answers /healthz and /readyz with 200', async () => {
  const simulator = await simulate();

  await request(simulator.url).get('/healthz').expect(200);
  await request(simulator.url).get('/readyz').expect(200, { status: 'ready' });
});

test('the simulator logs every call as one debug line without personal data or secrets', async () => {
  const lines: unknown[] = [];
  const note = (event: string, fields: object = {}) => void lines.push({ event, ...fields });
  const log = { debug: note, info: note, warn: note, error: note, with: () => log };
  const simulator = await simulate({ log });
  const tow = await simulator.orderTow();
  const bearer = await simulator.token();
  await simulator.operate('started', requestOf('started', tow), { bearer });
  await simulator.operate('violation', requestOf('violation', tow), { bearer });

  expect(lines).toMatchObject([
    { event: 'simulator.call_served', operation: 'token', status: 200 },
    { event: 'simulator.call_served', operation: 'started', towing_reference_id: tow.towing_reference_id },
    { event: 'simulator.call_served', operation: 'violation', effect: true },
  ]);
  const text = JSON.stringify(lines);
  for (const secret of ['ABD 1234', bearer, 'secret-of-the-test', 'King Fahd']) expect(text).not.toContain(secret);
});
