import { OPERATIONS } from '../../src/contracts/service/operations';
import { failedRules } from '../../src/contracts/rules';
import { guideViolationForm, ticketRequest, violationForm } from '../../src/contracts/service/service';
import { PLATE_TYPES, VIOLATION_TYPES } from '../../src/domain/vocabulary';
import { REQUESTS, without } from './messages';

/**
 * The fields of each request in the order of docs/service-api.md#violation-form and #operations, with the required
 * ones listed first.
 */
const REQUIRED = {
  started: [
    'violation_reference_id',
    'towing_reference_id',
    'plate_number',
    'towed_location',
    'latitude',
    'longitude',
    'status_update_time',
  ],
  detained: ['violation_reference_id', 'towing_reference_id'],
  canceled: ['violation_reference_id', 'towing_reference_id', 'cancellation_reason'],
  released: ['violation_reference_id', 'towing_reference_id'],
  invoice: ['towing_reference_id', 'vehicle_type', 'delay_in_days'],
  payment: ['towing_reference_id', 'payment_status'],
  violation: ['latitude', 'longitude', 'location', 'plateNumber', 'plateType', 'zoneId', 'violationType'],
  violation_guide: ['plateNumber', 'plateType', 'zoneId', 'violationType'],
  capacity: ['zoneId'],
  ticket: ['zoneId', 'plateNumber', 'plateType'],
} as const;
const OPTIONAL = {
  violation: [
    'date',
    'imagesDescription',
    'isSaudi',
    'metadata',
    'fullName',
    'identityNumber',
    'mobileNumber',
    'supervisorFullName',
    'supervisorIdentityNumber',
    'supervisorMobileNumber',
  ],
} as const;

const operations = ['started', 'detained', 'canceled', 'released', 'invoice', 'payment'] as const;
const guide = ['violation', 'violation_guide', 'capacity', 'ticket'] as const;
const names = [...operations, ...guide];

/** The fields that a request of an operation fails on. */
function failing(name: (typeof names)[number], request: object): string[] {
  const result = OPERATIONS[name].request.safeParse(request);
  return result.success ? [] : failedRules(result.error).map(({ field }) => field);
}

describe('requests of operations', () => {
  test.each(names)('accepts the documented request of %s unchanged', (name) => {
    expect(OPERATIONS[name].request.parse(REQUESTS[name])).toEqual(REQUESTS[name]);
  });

  test.each(operations)('the fields of the %s request have the documented order', (name) => {
    expect(Object.keys(OPERATIONS[name].request.shape)).toEqual(REQUIRED[name]);
  });

  test.each(guide)('the %s request has exactly the documented fields', (name) => {
    const optional = name === 'violation' ? OPTIONAL.violation : [];

    expect(Object.keys(OPERATIONS[name].request.shape).toSorted()).toEqual([...REQUIRED[name], ...optional].toSorted());
  });

  test.each(names.flatMap((name) => REQUIRED[name].map((field) => [name, field] as const)))(
    'a request of %s without %s is refused by that field alone',
    (name, field) => {
      expect(failing(name, without(REQUESTS[name], field))).toEqual([field]);
    },
  );

  test.each(OPTIONAL.violation)('accepts a violation without %s', (field) => {
    expect(failing('violation', without(REQUESTS.violation, field))).toEqual([]);
  });

  test.each(names)('names every required field of an empty %s request at once', (name) => {
    expect(failing(name, {}).toSorted()).toEqual([...REQUIRED[name]].toSorted());
  });

  test.each(names)('rejects an undocumented field in the %s request', (name) => {
    expect(failing(name, { ...REQUESTS[name], surprise: 1 })).toEqual(['surprise']);
  });

  test('the token request has no body', () => {
    expect(OPERATIONS.token.request).toBeNull();
  });

  test.each([-1, 1.5, '3'])('rejects an invoice request with a delay of %p days', (days) => {
    expect(failing('invoice', { ...REQUESTS.invoice, delay_in_days: days })).toEqual(['delay_in_days']);
  });
});

describe('enums', () => {
  const plateTypes = [
    'PRIVATE',
    'PUBLIC_TRANSPORTATION',
    'PRIVATE_TRANSPORTATION',
    'PUBLIC_MINIBUS',
    'PRIVATE_MINIBUS',
    'TAXI',
    'Heavy_Equipment',
    'EXPORT',
    'DIPLOMATIC',
    'MOTORCYCLE',
  ];
  const violationTypes = [
    'NO_TICKET',
    'TICKET_ENDED',
    'USER_EXCEED_PARKING_TIME',
    'WRONG_PARKING',
    'RESERVED_PARKING',
    'OBS_CLS_PARKING',
    'EMRG_PARKING',
    'ENT_EXT_PARKING',
    'PROH_PARKING',
  ];

  test('plate types and violation types are spelled exactly as in docs/service-api.md', () => {
    expect(PLATE_TYPES).toEqual(plateTypes);
    expect(VIOLATION_TYPES).toEqual(violationTypes);
  });

  test.each([
    ['violation', violationForm, REQUESTS.violation],
    ['violation_guide', guideViolationForm, REQUESTS.violation_guide],
    ['ticket', ticketRequest, REQUESTS.ticket],
  ] as const)('accepts Heavy_Equipment for %s only in this spelling', (_name, schema, request) => {
    expect(schema.safeParse({ ...request, plateType: 'Heavy_Equipment' }).success).toBe(true);
    for (const plateType of ['HEAVY_EQUIPMENT', 'heavy_equipment', 'HeavyEquipment', 'private', '']) {
      expect([plateType, schema.safeParse({ ...request, plateType }).success]).toEqual([plateType, false]);
    }
  });
});

describe('the violation form', () => {
  test.each(['', 'zone-1', '3f2504e04f8911d39a0c0305e82c3301'])('rejects a zone that is not a UUID: %p', (zoneId) => {
    expect(failing('violation', { ...REQUESTS.violation, zoneId })).toEqual(['zoneId']);
  });

  test('accepts a zone UUID of any version', () => {
    expect(failing('violation', { ...REQUESTS.violation, zoneId: '00000000-0000-0000-0000-0000000000ff' })).toEqual([]);
  });

  test.each([
    [{ latitude: 90.1 }, 'latitude'],
    [{ longitude: -180.1 }, 'longitude'],
    [{ latitude: '24.7' }, 'latitude'],
    [{ isSaudi: 'true' }, 'isSaudi'],
  ])('rejects a violation form with %j', (change, field) => {
    expect(failing('violation', { ...REQUESTS.violation, ...change })).toEqual([field]);
  });

  test('accepts metadata only with a text id or none (docs/service-api.md#violation-form)', () => {
    expect(failing('violation', { ...REQUESTS.violation, metadata: { id: 'a', shift: [1, { b: null }] } })).toEqual([]);
    expect(failing('violation', { ...REQUESTS.violation, metadata: { id: 5 } })).toEqual(['metadata.id']);
  });
});
