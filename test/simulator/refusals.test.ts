import { OPERATIONS } from '../../src/contracts/service/operations';
import { requestOf, textsOf } from './requests';
import { endAll, simulate } from './support';
import request from 'supertest';

/** docs/service-api.md#violation-errors and #tow-errors, and the order in which the rules are checked. */
afterEach(endAll);

const jsonNames = ['started', 'detained', 'canceled', 'released', 'invoice', 'payment', 'ticket'] as const;
const required = [...jsonNames, 'violation', 'violation_guide', 'capacity'] as const;
const optional = ['metadata'];

const missing = { code: 400, message: 'Missing required field' };
const invalidEnum = { code: 400, message: 'Invalid enum value' };
const zoneNotFound = { code: 400, message: 'Zone not found' };
const violationNotFound = { code: 404, message: 'Violation not found' };

test.each(required)(
  'refuses operation %s with 400 when any one of its required fields is missing, null or empty',
  async (name) => {
    const simulator = await simulate();
    const bearer = await simulator.token();
    const request = requestOf(name, await simulator.orderTow());
    const fields = Object.keys(request).filter((field) => !optional.includes(field));
    expect(fields.length).toBeGreaterThan(0);

    for (const field of fields) {
      for (const nothing of [undefined, null, '']) {
        const response = await simulator.operate(name, { ...request, [field]: nothing }, { bearer });
        expect([field, response.status, response.body]).toEqual([field, 400, missing]);
      }
    }
    expect((await simulator.world()).counts).toMatchObject({ statuses: 0, invoices: 0, violations_reported: 0 });
  },
);

test.each(jsonNames)('refuses operation %s with 400 when its body is not a JSON object', async (name) => {
  const simulator = await simulate();
  const bearer = await simulator.token();
  for (const body of ['', '{"towing_reference_id":', '[]', 'null', '"text"']) {
    const response = await simulator.operate(name, body, { bearer });
    expect([body, response.status, response.body]).toEqual([body, 400, missing]);
  }
});

test.each([
  ['started', 'latitude', '24.7'],
  ['started', 'plate_number', 1234],
  ['invoice', 'delay_in_days', 1.5],
  ['invoice', 'delay_in_days', -1],
  ['violation', 'latitude', 'north'],
  ['violation', 'metadata', '{broken'],
] as const)('refuses operation %s when its %s has the invalid value %j', async (name, field, value) => {
  const simulator = await simulate();
  const request = { ...requestOf(name, await simulator.orderTow()), [field]: value };

  expect((await simulator.operate(name, request)).body).toEqual(missing);
});

test.each([
  ['invoice', 'vehicle_type', 'heavy'],
  ['payment', 'payment_status', 'UNPAID'],
  ['violation', 'plateType', 'HEAVY_EQUIPMENT'],
  ['violation', 'violationType', 'DOUBLE_PARKING'],
  ['violation_guide', 'plateType', 'private'],
  ['violation_guide', 'violationType', 'no_ticket'],
  ['ticket', 'plateType', 'BUS'],
] as const)('refuses operation %s with 400 when its %s has the unknown value %s', async (name, field, value) => {
  const simulator = await simulate();
  const response = await simulator.operate(name, { ...requestOf(name, await simulator.orderTow()), [field]: value });

  expect([response.status, response.body]).toEqual([400, invalidEnum]);
});

test.each(['violation', 'violation_guide', 'capacity', 'ticket'] as const)(
  'refuses operation %s with 400 when its zone id is invalid or unknown',
  async (name) => {
    const closed = '0f0f0f0f-1111-4222-8333-444444444444';
    const simulator = await simulate({ unknownZones: [closed] });
    const request = requestOf(name, await simulator.orderTow());
    for (const zoneId of ['zone-7', '00000000-0000-0000-0000-000000000000', closed.toUpperCase()]) {
      const response = await simulator.operate(name, { ...request, zoneId });
      expect([zoneId, response.status, response.body]).toEqual([zoneId, 400, zoneNotFound]);
    }
    // The documented format is "UUID", so every UUID version is valid.
    const response = await simulator.operate(name, { ...request, zoneId: '11111111-1111-1111-1111-111111111111' });
    expect(response.status).toBe(200);
  },
);

test.each(['started', 'detained', 'canceled', 'released', 'invoice', 'payment'] as const)(
  'refuses operation %s with 404 when its tow is unknown',
  async (name) => {
    const simulator = await simulate();
    const request = { ...requestOf(name, await simulator.orderTow()), towing_reference_id: 'TW-20260101-ABSENT' };
    const response = await simulator.operate(name, request);

    expect([response.status, response.body]).toEqual([404, violationNotFound]);
  },
);

test.each(['started', 'detained', 'canceled', 'released'] as const)(
  'refuses operation %s with 404 when its violation is unknown or belongs to another tow',
  async (name) => {
    const simulator = await simulate();
    const request = requestOf(name, await simulator.orderTow());
    const other = await simulator.orderTow();
    for (const reference of ['V-20260101-ABSENT', other.violation_reference_id]) {
      const response = await simulator.operate(name, { ...request, violation_reference_id: reference });
      expect([response.status, response.body]).toEqual([404, violationNotFound]);
    }
    expect((await simulator.world()).counts).toMatchObject({ statuses: 0 });
  },
);

test('refuses operation started with 404 when the violation has no plate number', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow({ plate_number: null });

  const started = await simulator.operate('started', requestOf('started', tow));
  expect([started.status, started.body]).toEqual([404, { code: 404, message: 'Plate number not found' }]);
  expect((await simulator.operate('detained', requestOf('detained', tow))).status).toBe(200);
});

test('checks a violation in the order bearer, missing field, enum, zone, image size', async () => {
  const simulator = await simulate();
  const bearer = await simulator.token();
  const images = [{ name: 'huge.jpg', content: Buffer.alloc(10 * 1024 * 1024 + 1) }];
  const good = requestOf('violation', await simulator.orderTow());
  const withZone = { ...good, zoneId: 'zone-7' };
  const withEnum = { ...withZone, plateType: 'BUS' };
  const withMissing = { ...withEnum, location: '' };
  const bodyOf = async (fields: Record<string, unknown>, token: string | null): Promise<unknown> =>
    (await simulator.operate('violation', fields, { bearer: token, images })).body;

  expect(await bodyOf(withMissing, null)).toEqual({ code: 401, message: 'Unauthorized' });
  expect(await bodyOf(withMissing, bearer)).toEqual(missing);
  expect(await bodyOf(withEnum, bearer)).toEqual(invalidEnum);
  expect(await bodyOf(withZone, bearer)).toEqual(zoneNotFound);
  expect(await bodyOf(good, bearer)).toEqual({ code: 400, message: 'Image size exceeds limit' });
});

test('the simulator ignores undocumented fields of a call', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow();
  const request = { ...requestOf('detained', tow), yard: 'north' };

  expect((await simulator.operate('detained', request)).status).toBe(200);
});

test('refuses an invoice only with refusals that its contract lists', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow();
  const responses = [
    await simulator.operate('invoice', { ...requestOf('invoice', tow), vehicle_type: 'LIGHT' }),
    await simulator.operate('invoice', { ...requestOf('invoice', tow), towing_reference_id: 'TW-1' }),
    await simulator.operate('invoice', {}),
  ];
  for (const { status, body } of responses) {
    expect(
      OPERATIONS.invoice.refusals.map(({ httpStatus, message }) => ({ code: httpStatus, message })),
    ).toContainEqual(body);
    expect(body).toMatchObject({ code: status });
  }
});

async function prepared() {
  const simulator = await simulate();
  const headers = { authorization: `Bearer ${await simulator.token()}` };
  return { simulator, headers, tow: await simulator.orderTow() };
}

test.each([
  ['started', 'text/plain'],
  ['invoice', 'application/x-www-form-urlencoded'],
  ['ticket', 'application/jsonp'],
] as const)('refuses the JSON body of operation %s sent as %s', async (name, type) => {
  const { simulator, headers, tow } = await prepared();
  const { method, path } = OPERATIONS[name];
  const call = method === 'PATCH' ? request(simulator.url).patch(path) : request(simulator.url).post(path);
  const response = await call
    .set(headers)
    .type(type)
    .send(JSON.stringify(requestOf(name, tow)));

  expect([response.status, response.body]).toEqual([400, missing]);
});

test('refuses a status update sent as a form, and a violation sent as JSON', async () => {
  const { simulator, headers, tow } = await prepared();
  const form = request(simulator.url).patch(OPERATIONS.detained.path).set(headers);
  for (const [name, text] of Object.entries(textsOf(requestOf('detained', tow)))) form.field(name, text);
  const violation = request(simulator.url).post(OPERATIONS.violation.path).set(headers);

  expect((await form).body).toEqual(missing);
  expect((await violation.send(requestOf('violation', tow))).body).toEqual(missing);
});

test.each(['image', 'images[]', 'files'])('refuses an image in the form field %s', async (field) => {
  const { simulator, headers, tow } = await prepared();
  const form = request(simulator.url).post(OPERATIONS.violation.path).set(headers);
  for (const [name, text] of Object.entries(textsOf(requestOf('violation', tow)))) form.field(name, text);
  const response = await form.attach(field, Buffer.from('front'), 'front.jpg');

  expect([response.status, response.body]).toEqual([400, missing]);
});

test.each([
  ['2026-03-01T08:30:00Z', 200],
  ['2026-03-01T08:30:00.123Z', 200],
  ['2026-03-01T08:30:00+00:00', 200],
  ['2026-03-01T11:30:00+03:00', 400],
  ['2026-03-01 08:30:00', 400],
  ['2026-03-01', 400],
  ['1772353800', 400],
])('answers status_update_time %s with %d', async (status_update_time, status) => {
  const { simulator, tow } = await prepared();
  const response = await simulator.operate('started', { ...requestOf('started', tow), status_update_time });
  expect(response.status).toBe(status);
});
