import { OPERATIONS } from '../../src/contracts/operations';
import { formOf, requestOf } from './requests';
import { endAll, simulate } from './support';

/** service-api 7.1 and 7.2, and the order in which the rules are asked. */
afterEach(endAll);

const jsonNames = ['started', 'detained', 'canceled', 'released', 'invoice', 'payment', 'ticket'] as const;
const required = [...jsonNames, 'violation', 'violation_guide', 'capacity'] as const;
const optional = ['metadata'];

const missing = { code: 400, message: 'Missing required field' };
const invalidEnum = { code: 400, message: 'Invalid enum value' };
const zoneNotFound = { code: 400, message: 'Zone not found' };
const violationNotFound = { code: 404, message: 'Violation not found' };

test.each(required)('%s without any one of its required fields is refused', async (name) => {
  const simulator = await simulate();
  const bearer = await simulator.token();
  const request = requestOf(name, await simulator.orderTow());
  const fields = Object.keys(request).filter((field) => !optional.includes(field));
  expect(fields.length).toBeGreaterThan(0);

  for (const field of fields) {
    for (const nothing of [undefined, null, '']) {
      const answer = await simulator.operate(name, { ...request, [field]: nothing }, { bearer });
      expect([field, answer.status, answer.json]).toEqual([field, 400, missing]);
    }
  }
  expect((await simulator.world()).counts).toMatchObject({ statuses: 0, invoices: 0, violations_reported: 0 });
});

test.each(jsonNames)('%s with a body that is no JSON object is refused', async (name) => {
  const simulator = await simulate();
  const bearer = await simulator.token();
  for (const body of ['', '{"towing_reference_id":', '[]', 'null', '"text"']) {
    const answer = await simulator.operate(name, body, { bearer });
    expect([body, answer.status, answer.json]).toEqual([body, 400, missing]);
  }
});

test.each([
  ['started', 'latitude', '24.7'],
  ['started', 'plate_number', 1234],
  ['invoice', 'delay_in_days', 1.5],
  ['invoice', 'delay_in_days', -1],
  ['violation', 'latitude', 'north'],
  ['violation', 'metadata', '{broken'],
] as const)('%s with a %s that is no such thing is refused', async (name, field, value) => {
  const simulator = await simulate();
  const request = { ...requestOf(name, await simulator.orderTow()), [field]: value };

  expect((await simulator.operate(name, request)).json).toEqual(missing);
});

test.each([
  ['invoice', 'vehicle_type', 'heavy'],
  ['payment', 'payment_status', 'UNPAID'],
  ['violation', 'plateType', 'HEAVY_EQUIPMENT'],
  ['violation', 'violationType', 'DOUBLE_PARKING'],
  ['violation_guide', 'plateType', 'private'],
  ['violation_guide', 'violationType', 'no_ticket'],
  ['ticket', 'plateType', 'BUS'],
] as const)('%s with an unknown %s is an invalid enum value', async (name, field, value) => {
  const simulator = await simulate();
  const answer = await simulator.operate(name, { ...requestOf(name, await simulator.orderTow()), [field]: value });

  expect([answer.status, answer.json]).toEqual([400, invalidEnum]);
});

test.each(['violation', 'violation_guide', 'capacity', 'ticket'] as const)(
  '%s for a zone that is invalid or does not exist finds no zone',
  async (name) => {
    const closed = '0f0f0f0f-1111-4222-8333-444444444444';
    const simulator = await simulate({ unknownZones: [closed] });
    const request = requestOf(name, await simulator.orderTow());
    for (const zoneId of ['zone-7', '00000000-0000-0000-0000-000000000000', closed.toUpperCase()]) {
      const answer = await simulator.operate(name, { ...request, zoneId });
      expect([zoneId, answer.status, answer.json]).toEqual([zoneId, 400, zoneNotFound]);
    }
    // The format of the identifier is "UUID" and no more: its version is nobody's business.
    const answer = await simulator.operate(name, { ...request, zoneId: '11111111-1111-1111-1111-111111111111' });
    expect(answer.status).toBe(200);
  },
);

test.each(['started', 'detained', 'canceled', 'released', 'invoice', 'payment'] as const)(
  '%s for an unknown tow finds no violation',
  async (name) => {
    const simulator = await simulate();
    const request = { ...requestOf(name, await simulator.orderTow()), towing_reference_id: 'TW-20260101-NOBODY' };
    const answer = await simulator.operate(name, request);

    expect([answer.status, answer.json]).toEqual([404, violationNotFound]);
  },
);

test.each(['started', 'detained', 'canceled', 'released'] as const)(
  '%s for an unknown violation, or that of another tow, finds no violation',
  async (name) => {
    const simulator = await simulate();
    const request = requestOf(name, await simulator.orderTow());
    const other = await simulator.orderTow();
    for (const reference of ['V-20260101-NOBODY', other.violation_reference_id]) {
      const answer = await simulator.operate(name, { ...request, violation_reference_id: reference });
      expect([answer.status, answer.json]).toEqual([404, violationNotFound]);
    }
    expect((await simulator.world()).counts).toMatchObject({ statuses: 0 });
  },
);

test('a start for a violation without a plate number finds no plate number', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow({ plate_number: null });

  const started = await simulator.operate('started', requestOf('started', tow));
  expect([started.status, started.json]).toEqual([404, { code: 404, message: 'Plate number not found' }]);
  expect((await simulator.operate('detained', requestOf('detained', tow))).status).toBe(200);
});

test('the rules are asked in order: bearer, missing field, enum, zone, images', async () => {
  const simulator = await simulate();
  const bearer = await simulator.token();
  const form = (fields: Record<string, unknown>) => {
    const built = formOf(fields);
    built.append('images', new Blob([Buffer.alloc(10 * 1024 * 1024 + 1)]), 'huge.jpg');
    return built;
  };
  const good = requestOf('violation', await simulator.orderTow());
  const withZone = { ...good, zoneId: 'zone-7' };
  const withEnum = { ...withZone, plateType: 'BUS' };
  const withMissing = { ...withEnum, location: '' };
  const messageOf = async (fields: Record<string, unknown>, token: string | null) =>
    (await simulator.operate('violation', form(fields), { bearer: token })).json;

  expect(await messageOf(withMissing, null)).toEqual({ code: 401, message: 'Unauthorized' });
  expect(await messageOf(withMissing, bearer)).toEqual(missing);
  expect(await messageOf(withEnum, bearer)).toEqual(invalidEnum);
  expect(await messageOf(withZone, bearer)).toEqual(zoneNotFound);
  expect(await messageOf(good, bearer)).toEqual({ code: 400, message: 'Image size exceeds limit' });
});

test('fields that the document does not name are ignored', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow();
  const request = { ...requestOf('detained', tow), yard: 'north' };

  expect((await simulator.operate('detained', request)).status).toBe(200);
});

test('every refusal of a tow operation is one the contract lists', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow();
  const answers = [
    await simulator.operate('invoice', { ...requestOf('invoice', tow), vehicle_type: 'LIGHT' }),
    await simulator.operate('invoice', { ...requestOf('invoice', tow), towing_reference_id: 'TW-1' }),
    await simulator.operate('invoice', {}),
  ];
  for (const { status, json } of answers) {
    expect(
      OPERATIONS.invoice.refusals.map(({ httpStatus, message }) => ({ code: httpStatus, message })),
    ).toContainEqual(json);
    expect(json).toMatchObject({ code: status });
  }
});
