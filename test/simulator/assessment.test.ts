import { createHash } from 'node:crypto';
import { z } from 'zod';
import { simulatorViolations } from '../../src/contracts/simulator';
import { endAll, matching, simulate, startOperator, until, type Simulated } from './support';
import { formOf, requestOf, ZONE } from './requests';

afterEach(endAll);

const ASSESS_AFTER_MS = 30;

/** Reports a violation on one of the two paths; returns the service's name of it. */
async function report(
  simulator: Simulated,
  name: 'violation' | 'violation_guide',
  changes: object = {},
): Promise<string> {
  const unused = { violation_reference_id: '', towing_reference_id: '', metadata: {} };
  const answer = await simulator.operate(name, formOf({ ...requestOf(name, unused), ...changes }));
  const said = z.looseObject({ id: z.string().optional(), data: z.looseObject({}).optional() }).parse(answer.json);
  return z.string().parse(said.id ?? said.data?.['violation_reference_id']);
}

const violationsOf = async (simulator: Simulated) =>
  simulatorViolations.parse((await simulator.control('GET', '/violations')).json).items;

test('a reported violation that can be towed leads to its tow request by itself, with its reference and metadata', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, assessAfterMs: ASSESS_AFTER_MS });
  const reference = await report(simulator, 'violation', { metadata: { id: 'patrol-7', shift: 'night' } });
  const [webhook] = await operator.received(1);

  expect([webhook?.path, webhook?.body]).toEqual([
    '/tow-request',
    {
      violation_reference_id: reference,
      towing_reference_id: matching(/^TW-\d{8}-[A-Z0-9]{6}$/),
      metadata: { id: 'patrol-7', shift: 'night' },
    },
  ]);
});

test('so does one of the guide form, under an id that the service makes up', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, assessAfterMs: ASSESS_AFTER_MS });
  const reference = await report(simulator, 'violation_guide');
  const [webhook] = await operator.received(1);

  expect(webhook?.body).toMatchObject({ violation_reference_id: reference, metadata: { id: matching(/.+/) } });
});

test('the tow request comes although the answer was lost: the operator proves the violation by it', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, assessAfterMs: ASSESS_AFTER_MS });
  await simulator.faults({ operation: 'violation', fault: 'lost_answer', times: 1 });
  await report(simulator, 'violation').catch(() => 'no answer');
  const [webhook] = await operator.received(1);

  expect(webhook?.body).toMatchObject({ metadata: { id: 'patrol-1' } });
});

test('violations that a ticket settles, or that were refused, are never towed', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, assessAfterMs: ASSESS_AFTER_MS });
  for (const violationType of ['NO_TICKET', 'TICKET_ENDED', 'USER_EXCEED_PARKING_TIME']) {
    await report(simulator, 'violation', { violationType });
    await report(simulator, 'violation_guide', { violationType });
  }
  await report(simulator, 'violation', { location: '' }).catch(() => 'refused');
  const last = await report(simulator, 'violation', { violationType: 'PROH_PARKING' });
  await operator.received(1);

  expect(operator.posted.map(({ body }) => body['violation_reference_id'])).toEqual([last]);
  expect((await violationsOf(simulator)).filter(({ towed }) => towed)).toHaveLength(1);
});

test('a violation towed by hand before its assessment is not towed twice', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, assessAfterMs: ASSESS_AFTER_MS });
  const towed = await report(simulator, 'violation');
  await simulator.orderTow({ violation_reference_id: towed });
  const other = await report(simulator, 'violation');
  await operator.received(1);

  expect(operator.posted.map(({ body }) => body['violation_reference_id'])).toEqual([other]);
});

test('without a time nothing is assessed', async () => {
  const simulator = await simulate();
  await report(simulator, 'violation');
  await simulator.orderTow();

  expect((await simulator.world()).counts).toMatchObject({ violations_reported: 1, tows: 1 });
  expect(await violationsOf(simulator)).toMatchObject([{ towed: false }]);
});

test('a simulator that stops leaves no assessment behind', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, assessAfterMs: 3_600_000 });
  await report(simulator, 'violation');
  await simulator.stop(0);

  expect(operator.posted).toEqual([]);
});

test('what arrived is listed: every field, and images by name, size and fingerprint', async () => {
  const simulator = await simulate();
  const fields = { ...requestOf('violation', await simulator.orderTow()), isSaudi: true, fullName: 'نورة' };
  const form = formOf(fields);
  const image = Buffer.alloc(70_000, 7);
  form.append('images', new Blob([image]), 'أمام.jpg');
  await simulator.operate('violation', form);
  const reference = await report(simulator, 'violation_guide');
  await until(async () => (await violationsOf(simulator)).length === 2);
  const [first, second] = await violationsOf(simulator);

  expect(first).toEqual({
    violation_reference_id: matching(/^V-\d{8}-[A-Z0-9]{6}$/),
    plate_number: 'ABD 1234',
    metadata: { id: 'patrol-1' },
    towed: false,
    fields,
    images: [{ name: 'أمام.jpg', size: 70_000, sha256: createHash('sha256').update(image).digest('hex') }],
  });
  expect(second).toMatchObject({
    violation_reference_id: reference,
    metadata: null,
    fields: { plateNumber: 'ABD 1234', plateType: 'Heavy_Equipment', zoneId: ZONE, violationType: 'RESERVED_PARKING' },
    images: [],
  });
});
