import { z } from 'zod';
import { requestOf, textsOf } from './requests';
import { endAll, simulate, startOperator, matching, type TestSimulator } from './support';
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import request from 'supertest';
import { OPERATIONS } from '../../src/contracts/service/operations';
import { eventually } from '../support/eventually';

/** docs/service-api.md#operations. */
afterEach(endAll);

test('keeps every accepted tow status in order of arrival, including repeats', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow({ metadata: { id: 'm-1' } });
  for (const name of ['started', 'released', 'detained', 'detained', 'canceled'] as const) {
    const response = await simulator.operate(name, requestOf(name, tow));
    expect(response.body).toMatchObject({
      data: { towing_reference_id: tow.towing_reference_id, metadata: { id: 'm-1' } },
    });
  }

  expect((await simulator.world()).tows).toEqual([
    {
      ...tow,
      statuses: ['started', 'released', 'detained', 'detained', 'canceled'],
      invoices: 0,
      payment_status: null,
    },
  ]);
});

test('charges the tow and each day of delay with 15 % VAT in an invoice', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow();
  const response = await simulator.operate('invoice', { ...requestOf('invoice', tow), delay_in_days: 3 });

  expect(response.body).toMatchObject({
    data: {
      towing_reference_id: tow.towing_reference_id,
      towing_invoice: { total_amount: 345, paid_amount: 0, tax: 45 },
      delay_invoice: { total_amount: 172.5, paid_amount: 0, tax: 22.5 },
      metadata: tow.metadata,
    },
  });
});

test('makes a delay invoice of zero amounts for a tow without delay', async () => {
  const simulator = await simulate();
  const request = { ...requestOf('invoice', await simulator.orderTow()), delay_in_days: 0 };

  expect((await simulator.operate('invoice', request)).body).toMatchObject({
    data: { delay_invoice: { total_amount: 0, paid_amount: 0, tax: 0 } },
  });
});

test('creates a second invoice with a separate webhook and new numbers on a repeated invoice request', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, invoiceWebhookDelayMs: 0 });
  const tow = await simulator.orderTow();
  await simulator.operate('invoice', requestOf('invoice', tow));
  await simulator.operate('invoice', requestOf('invoice', tow));

  expect((await simulator.world()).tows).toMatchObject([{ invoices: 2 }]);
  const posted = await operator.received(2);
  const charge = z.object({ invoice_number: z.string() });
  const numbers = posted.flatMap(({ body }) => [
    charge.parse(body['towing_invoice']).invoice_number,
    charge.parse(body['delay_invoice']).invoice_number,
  ]);
  expect(new Set(numbers).size).toBe(4);
  expect(new Set(posted.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
});

test('marks an invoice as paid in full on a payment', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, invoiceWebhookDelayMs: 60_000 });
  const tow = await simulator.orderTow();
  await simulator.operate('invoice', requestOf('invoice', tow));
  await simulator.operate('payment', requestOf('payment', tow));
  await simulator.control('POST', '/invoices', { towing_reference_id: tow.towing_reference_id });

  expect((await operator.received(1))[0]?.body).toMatchObject({
    towing_invoice: { total_amount: 345, paid_amount: 345 },
    delay_invoice: { total_amount: 115, paid_amount: 115 },
  });
  expect((await simulator.world()).tows).toMatchObject([{ payment_status: 'PAID', invoices: 1 }]);
});

const LIMIT_BYTES = 10_000_000;
const created = z.object({
  data: z.object({ violation_reference_id: z.string(), status: z.string(), metadata: z.unknown() }),
});

async function violationFields(simulator: TestSimulator, changes: Record<string, unknown> = {}) {
  return { ...requestOf('violation', await simulator.orderTow()), ...changes };
}

test('answers a reported violation as PENDING with a unique reference and its metadata', async () => {
  const simulator = await simulate();
  const metadata = { id: 'patrol-7', note: 'بجانب المدخل', tags: [1, null] };
  const violations = [];
  for (let count = 0; count < 2; count += 1) {
    const response = await simulator.operate('violation', await violationFields(simulator, { metadata }));
    violations.push(created.parse(response.body));
  }

  for (const { data } of violations) {
    expect(data).toMatchObject({ status: 'PENDING', metadata });
    expect(data.violation_reference_id).toMatch(/^V-\d{8}-[A-Z0-9]{6}$/);
  }
  expect(new Set(violations.map(({ data }) => data.violation_reference_id)).size).toBe(2);
  expect((await simulator.world()).counts).toMatchObject({ violations_reported: 2 });
});

test('lists a violation call with its form as sent and with the name, size and hash of each image', async () => {
  const simulator = await simulate();
  const changes = { isSaudi: true, fullName: 'نورة', date: '2026-03-01T11:30:00+03:00' };
  const images = [
    { name: 'أمام.jpg', content: Buffer.from('front') },
    { name: 'back.jpg', content: Buffer.alloc(300_000, 7) },
  ];
  const response = await simulator.operate('violation', await violationFields(simulator, changes), { images });
  expect(response.status).toBe(200);

  const hashes = images.map(({ content }) => createHash('sha256').update(content).digest('hex'));
  const [call] = (await simulator.calls()).filter(({ operation }) => operation === 'violation');
  expect(call).toMatchObject({
    method: 'POST',
    path: '/v1/violations/public',
    status: 200,
    effect: true,
    body: {
      plateNumber: 'ABD 1234',
      latitude: '24.7136',
      isSaudi: 'true',
      fullName: 'نورة',
      metadata: '{"id":"patrol-1"}',
      images: [
        { name: 'أمام.jpg', size: 5, sha256: hashes[0] },
        { name: 'back.jpg', size: 300_000, sha256: hashes[1] },
      ],
    },
  });
});

test('accepts images of exactly 10 MB and refuses one byte more with 400', async () => {
  const simulator = await simulate();
  const half = Buffer.alloc(LIMIT_BYTES / 2, 1);
  const withImages = async (...contents: Buffer[]) => {
    const images = contents.map((content) => ({ name: 'image.jpg', content }));
    return simulator.operate('violation', await violationFields(simulator), { images });
  };

  expect((await withImages(half, half)).status).toBe(200);
  const refused = await withImages(half, half, Buffer.alloc(1));
  expect([refused.status, refused.body]).toEqual([400, { code: 400, message: 'Image size exceeds limit' }]);
  expect((await simulator.world()).counts).toMatchObject({ violations_reported: 1 });
});

test('accepts a violation without metadata and images', async () => {
  const simulator = await simulate();
  const response = await simulator.operate('violation', await violationFields(simulator, { metadata: null }));

  expect(created.parse(response.body).data.metadata).toEqual({});
});

test('refuses a body that is not a complete multipart form with 400', async () => {
  const simulator = await simulate();
  const bearer = await simulator.token();
  const refuses = (contentType: string, body: string) =>
    request(simulator.url)
      .post(OPERATIONS.violation.path)
      .set({ authorization: `Bearer ${bearer}`, 'content-type': contentType })
      .send(body)
      .expect(400, { code: 400, message: 'Missing required field' });

  await refuses('application/json', '{}');
  await refuses('multipart/form-data', 'x');
  await refuses('multipart/form-data; boundary=b', '--b\r\nBroken\r\n');
  await refuses(
    'multipart/form-data; boundary=b',
    '--b\r\nContent-Disposition: form-data; name="images"; filename="a"\r\n\r\nabc',
  );
});

test('refuses a form that is cut off inside an image, and accepts it when it is complete', async () => {
  const simulator = await simulate();
  const form = new FormData();
  for (const [name, text] of Object.entries(textsOf(await violationFields(simulator)))) form.append(name, text);
  form.append('images', new Blob([Buffer.alloc(5000, 1)]), 'image.jpg');
  const complete = new Response(form);
  const bytes = Buffer.from(await complete.arrayBuffer());
  const contentType = complete.headers.get('content-type') ?? '';
  const bearer = await simulator.token();
  const post = (body: Buffer) =>
    request(simulator.url)
      .post(OPERATIONS.violation.path)
      .set({ authorization: `Bearer ${bearer}`, 'content-type': contentType })
      .send(body);

  await post(bytes.subarray(0, -1000)).expect(400);
  await post(bytes).expect(200);
});

test('records no violation when the client disconnects during its upload', async () => {
  const simulator = await simulate();
  const { hostname, port } = new URL(simulator.url);
  // A raw socket: supertest cannot leave an upload unfinished.
  const socket = connect(Number(port), hostname);
  const head = [
    `POST ${OPERATIONS.violation.path} HTTP/1.1`,
    `Host: ${hostname}`,
    `Authorization: Bearer ${await simulator.token()}`,
    'Content-Type: multipart/form-data; boundary=b',
    'Content-Length: 100000',
    '',
    '--b\r\nContent-Disposition: form-data; name="images"; filename="a.jpg"\r\n\r\nabc',
  ];
  socket.write(head.join('\r\n'));
  await eventually(async () => {
    expect((await simulator.calls()).map(({ operation }) => operation)).toContain('violation');
  });
  socket.destroy();
  await simulator.operate('violation', await violationFields(simulator));

  expect((await simulator.calls()).filter(({ operation }) => operation === 'violation')).toMatchObject([
    { status: null, effect: false, body: null },
    { status: 200, effect: true },
  ]);
  expect((await simulator.world()).counts).toMatchObject({ violations_reported: 1 });
});

test('puts the metadata of a reported violation into its tow request', async () => {
  const simulator = await simulate();
  const response = await simulator.operate('violation', await violationFields(simulator));
  const { violation_reference_id } = created.parse(response.body).data;

  expect(await simulator.orderTow({ violation_reference_id })).toMatchObject({
    violation_reference_id,
    metadata: { id: 'patrol-1' },
  });
});

test.each([
  ['RESERVED_PARKING', true],
  ['NO_TICKET', false],
])('answers the guide form for violation type %s with canTow %s', async (violationType, canTow) => {
  const simulator = await simulate();
  const fields = requestOf('violation_guide', await simulator.orderTow());
  const response = await simulator.operate('violation_guide', { ...fields, violationType });

  expect(response.body).toEqual({ id: matching(/^V-\d{8}-[A-Z0-9]{6}$/), canTow });
});

test('always answers with the same free slots for a zone and the same ticket state for a plate', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow();
  const ticketFor = async (plateNumber: string): Promise<unknown> =>
    (await simulator.operate('ticket', { ...requestOf('ticket', tow), plateNumber })).body;
  const capacity = async (): Promise<unknown> => (await simulator.operate('capacity', requestOf('capacity', tow))).body;

  expect(await ticketFor('ABD 1234')).toEqual({ hasActiveTicket: true });
  expect(await ticketFor('ABD 1233')).toEqual({ hasActiveTicket: false });
  expect(await capacity()).toEqual(await capacity());
});
