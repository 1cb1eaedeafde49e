import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { z } from 'zod';
import { OPERATIONS } from '../../src/contracts/operations';
import { formOf, requestOf } from './requests';
import { endAll, matching, simulate, until, type Simulated } from './support';

/** service-api 2.1, 2.4, 4.1 and the guide's operations of 4.5. */
afterEach(endAll);

const LIMIT_BYTES = 10 * 1024 * 1024;
const created = z.object({
  data: z.object({ violation_reference_id: z.string(), status: z.string(), metadata: z.unknown() }),
});

async function reportForm(simulator: Simulated, changes: Record<string, unknown> = {}) {
  return formOf({ ...requestOf('violation', await simulator.orderTow()), ...changes });
}

test('a reported violation is PENDING, has a reference of its own and echoes the metadata', async () => {
  const simulator = await simulate();
  const metadata = { id: 'patrol-7', note: 'بجانب المدخل', tags: [1, null] };
  const answers = [];
  for (let count = 0; count < 2; count += 1) {
    answers.push(created.parse((await simulator.operate('violation', await reportForm(simulator, { metadata }))).json));
  }

  for (const { data } of answers) {
    expect(data).toMatchObject({ status: 'PENDING', metadata });
    expect(data.violation_reference_id).toMatch(/^V-\d{8}-[A-Z0-9]{6}$/);
  }
  expect(new Set(answers.map(({ data }) => data.violation_reference_id)).size).toBe(2);
  expect((await simulator.world()).counts).toMatchObject({ violations_reported: 2 });
});

test('the list of calls shows the form as sent and each image by name, size and hash', async () => {
  const simulator = await simulate();
  const form = await reportForm(simulator, { isSaudi: true, fullName: 'نورة', date: '2026-03-01T11:30:00+03:00' });
  const images = [Buffer.from('front'), Buffer.alloc(300_000, 7)];
  form.append('images', new Blob([images[0] ?? '']), 'أمام.jpg');
  form.append('images', new Blob([images[1] ?? '']), 'back.jpg');
  expect((await simulator.operate('violation', form)).status).toBe(200);

  const hashes = images.map((image) => createHash('sha256').update(image).digest('hex'));
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

test('images of exactly 10 MB are taken, one byte more is not', async () => {
  const simulator = await simulate();
  const half = Buffer.alloc(LIMIT_BYTES / 2, 1);
  const withImages = async (...images: Buffer[]) => {
    const form = await reportForm(simulator);
    for (const image of images) form.append('images', new Blob([image]), 'image.jpg');
    return simulator.operate('violation', form);
  };

  expect((await withImages(half, half)).status).toBe(200);
  const refused = await withImages(half, half, Buffer.alloc(1));
  expect([refused.status, refused.json]).toEqual([400, { code: 400, message: 'Image size exceeds limit' }]);
  expect((await simulator.world()).counts).toMatchObject({ violations_reported: 1 });
});

test('a violation without metadata and images is taken', async () => {
  const simulator = await simulate();
  const answer = await simulator.operate('violation', await reportForm(simulator, { metadata: null }));

  expect(created.parse(answer.json).data.metadata).toEqual({});
});

test('a body that is no multipart form, or breaks off, is refused and answered', async () => {
  const simulator = await simulate();
  const headers = { authorization: `Bearer ${await simulator.token()}` };
  const post = async (contentType: string, body: string) => {
    const init = { method: 'POST', headers: { ...headers, 'content-type': contentType }, body };
    const response = await fetch(`${simulator.url}${OPERATIONS.violation.path}`, init);
    return [response.status, await response.json()];
  };
  const refused = [400, { code: 400, message: 'Missing required field' }];

  expect(await post('application/json', '{}')).toEqual(refused);
  expect(await post('multipart/form-data', 'x')).toEqual(refused);
  expect(await post('multipart/form-data; boundary=b', '--b\r\nBroken\r\n')).toEqual(refused);
  expect(
    await post(
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="images"; filename="a"\r\n\r\nabc',
    ),
  ).toEqual(refused);
});

test('a form with every field that breaks off in an image is refused', async () => {
  const simulator = await simulate();
  const form = await reportForm(simulator);
  form.append('images', new Blob([Buffer.alloc(5000, 1)]), 'image.jpg');
  const whole = new Response(form);
  const bytes = Buffer.from(await whole.arrayBuffer());
  const headers = {
    authorization: `Bearer ${await simulator.token()}`,
    'content-type': whole.headers.get('content-type') ?? '',
  };
  const post = async (body: Buffer) => {
    const response = await fetch(`${simulator.url}${OPERATIONS.violation.path}`, { method: 'POST', headers, body });
    return response.status;
  };

  expect(await post(bytes.subarray(0, -1000))).toBe(400);
  expect(await post(bytes)).toBe(200);
});

test('a client that goes away in the middle of its upload has reported nothing', async () => {
  const simulator = await simulate();
  const { hostname, port } = new URL(simulator.url);
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
  const isOpen = async () => (await simulator.calls()).some(({ operation }) => operation === 'violation');
  await until(isOpen);
  socket.destroy();
  await simulator.operate('violation', await reportForm(simulator));

  expect((await simulator.calls()).filter(({ operation }) => operation === 'violation')).toMatchObject([
    { status: null, effect: false, body: null },
    { status: 200, effect: true },
  ]);
  expect((await simulator.world()).counts).toMatchObject({ violations_reported: 1 });
});

test('a tow request for a reported violation carries the metadata the operator gave', async () => {
  const simulator = await simulate();
  const answer = await simulator.operate('violation', await reportForm(simulator));
  const { violation_reference_id } = created.parse(answer.json).data;

  expect(await simulator.orderTow({ violation_reference_id })).toMatchObject({
    violation_reference_id,
    metadata: { id: 'patrol-1' },
  });
});

test.each([
  ['RESERVED_PARKING', true],
  ['NO_TICKET', false],
])('the guide form tells for %s that a tow is possible: %s', async (violationType, canTow) => {
  const simulator = await simulate();
  const request = requestOf('violation_guide', await simulator.orderTow());
  const answer = await simulator.operate('violation_guide', { ...request, violationType });

  expect(answer.json).toEqual({ id: matching(/^V-\d{8}-[A-Z0-9]{6}$/), canTow });
});

test('a zone always has the same free slots, and a plate always the same ticket', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow();
  const ticketFor = async (plateNumber: string) =>
    (await simulator.operate('ticket', { ...requestOf('ticket', tow), plateNumber })).json;
  const capacity = async () => (await simulator.operate('capacity', requestOf('capacity', tow))).json;

  expect(await ticketFor('ABD 1234')).toEqual({ hasActiveTicket: true });
  expect(await ticketFor('ABD 1233')).toEqual({ hasActiveTicket: false });
  expect(await capacity()).toEqual(await capacity());
});
