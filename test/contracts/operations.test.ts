import { OPERATIONS, type Operation, type OperationName } from '../../src/contracts/operations';
import { WEBHOOKS } from '../../src/contracts/webhooks';

/** service-api 4.1 to 4.5, copied by hand. */
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
  test('has the 11 operations of the document and no other', () => {
    expect(Object.keys(OPERATIONS).toSorted()).toEqual(Object.keys(DOCUMENTED).toSorted());
    expect(rows).toHaveLength(11);
  });

  test.each(rows)('calls %s by the documented method and path', (name, { method, path }) => {
    expect([method, path]).toEqual(DOCUMENTED[name]);
  });

  test('never sends twice what may make a second thing: invoice and both violations, and only those', () => {
    expect(named(({ safeToRepeat }) => !safeToRepeat)).toEqual(['invoice', 'violation', 'violation_guide']);
  });

  test('sends violations as forms, capacity as a query, the token as credentials, the rest as JSON', () => {
    expect(named(({ encoding }) => encoding === 'form')).toEqual(['violation', 'violation_guide']);
    expect(named(({ encoding }) => encoding === 'query')).toEqual(['capacity']);
    expect(named(({ encoding }) => encoding === 'credentials')).toEqual(['token']);
    expect(named(({ encoding }) => encoding === 'json')).toHaveLength(7);
  });

  test('reads the guide operations whose envelope is not shown both bare and inside it', () => {
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
  ] as const)('counts against the budget %s: %j', (budget, names) => {
    expect(named((operation) => operation.budget === budget)).toEqual(names);
  });
});

describe('the documented errors', () => {
  const errors = ({ refusals }: Operation) => refusals.map(({ httpStatus, message }) => `${httpStatus} ${message}`);

  test('of a violation are those of service-api 7.1', () => {
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
    'of %s are those of service-api 7.2',
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

  test('of every operation have 401, 403 and 500 among them', () => {
    for (const [name, operation] of rows) {
      expect([name, errors(operation)]).toEqual([
        name,
        expect.arrayContaining(['401 Unauthorized', '403 Access denied', '500 Internal Server Error']),
      ]);
    }
  });
});

test('the table of webhooks has both calls of the service and no other, at the documented paths', () => {
  const paths = Object.entries(WEBHOOKS).map(([kind, { path }]) => [kind, path]);

  expect(paths).toEqual([
    ['tow_request', '/tow-request'],
    ['tow_invoice', '/tow/invoice'],
  ]);
});
