import { OPERATIONS, type Operation, type OperationName } from '../../src/contracts/service/operations';
import { WEBHOOKS } from '../../src/contracts/webhook/webhooks';
import { ENTRY_POLICY } from '../../src/domain/outbox/entry';
import { ENTRY_KINDS } from '../../src/domain/vocabulary';
import { VIOLATION_OPERATIONS } from '../../src/workflow/service/service-port';

/** docs/service-api.md#operations, copied by hand. */
const DOCUMENTED: Record<OperationName, [method: string, path: string]> = {
  violation: ['POST', '/v1/violations/public'],
  started: ['PATCH', '/v1/tow/public/towing-status/started'],
  detained: ['PATCH', '/v1/tow/public/towing-status/detained'],
  canceled: ['PATCH', '/v1/tow/public/towing-status/canceled'],
  released: ['PATCH', '/v1/tow/public/towing-status/released'],
  invoice: ['POST', '/v1/tow/public/invoice'],
  payment: ['PATCH', '/v1/tow/public/invoice/payment-status'],
  token: ['POST', '/auth/public/token'],
  capacity: ['GET', '/sites/public/site-capacity'],
  ticket: ['POST', '/tickets/public/active-ticket'],
  violation_guide: ['POST', '/violation/public/create'],
};

const rows: [OperationName, Operation][] = [
  ['violation', OPERATIONS.violation],
  ['started', OPERATIONS.started],
  ['detained', OPERATIONS.detained],
  ['canceled', OPERATIONS.canceled],
  ['released', OPERATIONS.released],
  ['invoice', OPERATIONS.invoice],
  ['payment', OPERATIONS.payment],
  ['token', OPERATIONS.token],
  ['capacity', OPERATIONS.capacity],
  ['ticket', OPERATIONS.ticket],
  ['violation_guide', OPERATIONS.violation_guide],
];
const named = (fits: (operation: Operation) => boolean) =>
  rows.flatMap(([name, operation]) => (fits(operation) ? [name] : [])).toSorted();

describe('the table of operations', () => {
  test('the table of operations has exactly the 11 documented operations', () => {
    expect(Object.keys(OPERATIONS).toSorted()).toEqual(Object.keys(DOCUMENTED).toSorted());
    expect(rows).toHaveLength(11);
  });

  test.each(rows)(
    'the table of operations contains %s with the documented method and path',
    (name, { method, path }) => {
      expect([method, path]).toEqual(DOCUMENTED[name]);
    },
  );

  test('marks exactly the invoice and both violation operations as not repeatable', () => {
    expect(named(({ safeToRepeat }) => !safeToRepeat)).toEqual(['invoice', 'violation', 'violation_guide']);
  });

  test.each(ENTRY_KINDS)('%s is safe to repeat for the outbox exactly if its operations are', (kind) => {
    const names = kind === 'violation' ? Object.values(VIOLATION_OPERATIONS) : [kind];
    const { safeToRepeat } = ENTRY_POLICY[kind];
    expect(names.map((name) => OPERATIONS[name].safeToRepeat)).toEqual(names.map(() => safeToRepeat));
  });

  test('sends violations as forms, capacity as a query, the token as credentials and the rest as JSON', () => {
    expect(named(({ encoding }) => encoding === 'form')).toEqual(['violation', 'violation_guide']);
    expect(named(({ encoding }) => encoding === 'query')).toEqual(['capacity']);
    expect(named(({ encoding }) => encoding === 'credentials')).toEqual(['token']);
    expect(named(({ encoding }) => encoding === 'json')).toHaveLength(7);
  });

  test('reads guide answers both bare and in an envelope', () => {
    expect(named(({ answerShape }) => answerShape === 'bare_or_envelope')).toEqual([
      'capacity',
      'ticket',
      'violation_guide',
    ]);
  });

  test.each([
    ['auth', ['token']],
    ['site', ['capacity']],
    ['tickets', ['ticket']],
    ['tow', ['canceled', 'detained', 'invoice', 'payment', 'released', 'started']],
    ['violations', ['violation', 'violation_guide']],
  ] as const)('the rate limit %s counts the operations %j', (budget, names) => {
    expect(named((operation) => operation.budget === budget)).toEqual(names);
  });
});

describe('the documented errors', () => {
  const errors = ({ refusals }: Operation) => refusals.map(({ httpStatus, message }) => `${httpStatus} ${message}`);

  test('lists the errors of a violation as in docs/service-api.md#violation-errors', () => {
    expect(errors(OPERATIONS.violation)).toEqual([
      '400 Zone not found',
      '400 Image size exceeds limit',
      '400 Missing required field',
      '400 Invalid enum value',
      '401 Unauthorized',
      '403 Access denied',
      '500 Internal Server Error',
    ]);
  });

  test.each(['started', 'detained', 'canceled', 'released', 'invoice', 'payment'] as const)(
    'lists the errors of %s as in docs/service-api.md#tow-errors',
    (name) => {
      expect(errors(OPERATIONS[name]).toSorted()).toEqual([
        '400 Invalid enum value',
        '400 Missing required field',
        '401 Unauthorized',
        '403 Access denied',
        '404 Plate number not found',
        '404 Violation not found',
        '500 Internal Server Error',
      ]);
    },
  );

  test('lists 401, 403 and 500 as errors of every operation', () => {
    for (const [name, operation] of rows) {
      expect([name, errors(operation)]).toEqual([
        name,
        expect.arrayContaining(['401 Unauthorized', '403 Access denied', '500 Internal Server Error']),
      ]);
    }
  });
});

test('the table of webhooks has exactly the two webhooks at their documented paths', () => {
  const paths = Object.entries(WEBHOOKS).map(([kind, { path }]) => [kind, path]);

  expect(paths).toEqual([
    ['tow_request', '/tow-request'],
    ['tow_invoice', '/tow/invoice'],
  ]);
});
