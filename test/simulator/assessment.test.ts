import { createHash } from 'node:crypto';
import { z } from 'zod';
import { simulatorViolations } from '../../src/contracts/service/simulator';
import { eventually, inTime } from '../support/eventually';
import { endAll, matching, simulate, startOperator, type TestSimulator } from './support';
import { requestOf, ZONE } from './requests';

afterEach(endAll);

const ASSESS_AFTER_MS = 30;

/** Reports a violation on one of the two paths and returns its reference in the service. */
async function report(
  simulator: TestSimulator,
  name: 'violation' | 'violation_guide',
  changes: object = {},
): Promise<string> {
  const unused = { violation_reference_id: '', towing_reference_id: '', metadata: {} };
  const response = await simulator.operate(name, { ...requestOf(name, unused), ...changes });
  const { id, data } = z
    .looseObject({ id: z.string().optional(), data: z.looseObject({}).optional() })
    .parse(response.body);
  return z.string().parse(id ?? data?.['violation_reference_id']);
}

const violationsOf = async (simulator: TestSimulator) =>
  simulatorViolations.parse((await simulator.control('GET', '/violations')).body).items;

test('sends the tow request of a reported towable violation, with its reference and metadata', async () => {
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

test('sends the tow request of a violation reported by the guide form, with a generated metadata id', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, assessAfterMs: ASSESS_AFTER_MS });
  const reference = await report(simulator, 'violation_guide');
  const [webhook] = await operator.received(1);

  expect(webhook?.body).toMatchObject({ violation_reference_id: reference, metadata: { id: matching(/.+/) } });
});

test('sends the tow request of a violation whose answer was lost', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, assessAfterMs: ASSESS_AFTER_MS });
  await simulator.faults({ operation: 'violation', fault: 'lost_answer', times: 1 });
  await report(simulator, 'violation').catch(() => 'no response');
  const [webhook] = await operator.received(1);

  expect(webhook?.body).toMatchObject({ metadata: { id: 'patrol-1' } });
});

test('sends no tow request for violations that a ticket settles or that were refused', async () => {
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

test('sends no second tow request for a violation whose tow was ordered before its assessment', async () => {
  const assessAfterMs = 400;
  // Repeated, because a slow machine may order the tow after the assessment.
  const { operator, simulator } = await inTime(assessAfterMs, async (startClock) => {
    const receiver = await startOperator();
    const started = await simulate({ webhookUrl: receiver.url, assessAfterMs });
    startClock();
    const towed = await report(started, 'violation');
    await started.orderTow({ violation_reference_id: towed });
    return { operator: receiver, simulator: started };
  });
  const other = await report(simulator, 'violation');
  await operator.received(1);

  expect(operator.posted.map(({ body }) => body['violation_reference_id'])).toEqual([other]);
});

test('assesses no violation when no assessment delay is configured', async () => {
  const simulator = await simulate();
  await report(simulator, 'violation');
  await simulator.orderTow();

  expect((await simulator.world()).counts).toMatchObject({ violations_reported: 1, tows: 1 });
  expect(await violationsOf(simulator)).toMatchObject([{ towed: false }]);
});

test('sends no tow request for a pending assessment after the simulator stops', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, assessAfterMs: 3_600_000 });
  await report(simulator, 'violation');
  await simulator.stop(0);

  expect(operator.posted).toEqual([]);
});

test('lists reported violations with every field and with the name, size and hash of each image', async () => {
  const simulator = await simulate();
  const fields = { ...requestOf('violation', await simulator.orderTow()), isSaudi: true, fullName: 'نورة' };
  const image = Buffer.alloc(70_000, 7);
  await simulator.operate('violation', fields, { images: [{ name: 'أمام.jpg', content: image }] });
  const reference = await report(simulator, 'violation_guide');
  await eventually(async () => expect(await violationsOf(simulator)).toHaveLength(2));
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
