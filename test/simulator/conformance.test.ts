import request from 'supertest';
import { OPERATIONS, type OperationName } from '../../src/contracts/service/operations';
import { envelope } from '../../src/contracts/service/service';
import { SIMULATED_OPERATIONS } from '../../src/simulator/answer/faults';
import { requestOf } from './requests';
import { endAll, simulate } from './support';

afterEach(endAll);

const protectedNames = SIMULATED_OPERATIONS.filter((name) => name !== 'token');

describe.each([
  ['at the root', '', 'bare'],
  ['below a path prefix', '/gate/parking/api', 'bare'],
  ['with every answer in an envelope', '', 'envelope'],
] as const)('simulator: operations %s', (where, prefix, form) => {
  test.each(SIMULATED_OPERATIONS)(`operation %s ${where} answers as its contract defines`, async (name) => {
    const simulator = await simulate({ profile: form === 'envelope' ? { bare: [] } : {} });
    const response = await simulator.operate(name, requestOf(name, await simulator.orderTow()), { prefix });

    expect(response.status).toBe(200);
    const { answerShape, answer: contract } = OPERATIONS[name];
    const isBare = answerShape === 'bare_or_envelope' && form === 'bare';
    const success = { code: 200, message: 'Success' };
    const { code, message, data } = isBare ? { ...success, data: response.body } : envelope.parse(response.body);
    expect({ code, message }).toEqual(success);
    contract.parse(data);
  });
});

test.each(SIMULATED_OPERATIONS)('operation %s answers with every documented common error', async (name) => {
  const simulator = await simulate();
  const fields = requestOf(name, await simulator.orderTow());
  const bearer = await simulator.token();
  const responses = [];

  responses.push(await simulator.operate(name, name === 'token' ? {} : fields, { bearer: null }));
  await simulator.faults({ operation: name, fault: '403' });
  responses.push(await simulator.operate(name, fields, { bearer }));
  await simulator.faults({ operation: name, fault: '500' });
  responses.push(await simulator.operate(name, fields, { bearer }));

  expect(responses.map((response) => [response.status, response.body])).toEqual(
    [
      { httpStatus: 401, message: 'Unauthorized' },
      { httpStatus: 403, message: 'Access denied' },
      { httpStatus: 500, message: 'Internal Server Error' },
    ].map(({ httpStatus, message }) => [httpStatus, { code: httpStatus, message }]),
  );
  for (const { status } of responses)
    expect(OPERATIONS[name].refusals.map(({ httpStatus }) => httpStatus)).toContain(status);
  expect((await simulator.world()).counts).toMatchObject({ statuses: 0, invoices: 0, violations_reported: 0 });
});

test.each(protectedNames)(
  'operation %s with another HTTP method is answered with 404 and not recorded as a call',
  async (name) => {
    const simulator = await simulate();
    await request(simulator.url).put(OPERATIONS[name].path).expect(404);

    expect(await simulator.calls()).toEqual([]);
  },
);

test('the simulator serves an operation also at its path with a trailing slash', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow();
  await request(simulator.url)
    .patch(`/x${OPERATIONS.detained.path}/`)
    .set('authorization', `Bearer ${await simulator.token()}`)
    .send(requestOf('detained', tow))
    .expect(200);
});

test('the operation table lists exactly the documented operations', () => {
  const documented: Record<OperationName, string> = {
    token: 'POST /auth/public/token',
    started: 'PATCH /v1/tow/public/towing-status/started',
    detained: 'PATCH /v1/tow/public/towing-status/detained',
    canceled: 'PATCH /v1/tow/public/towing-status/canceled',
    released: 'PATCH /v1/tow/public/towing-status/released',
    invoice: 'POST /v1/tow/public/invoice',
    payment: 'PATCH /v1/tow/public/invoice/payment-status',
    violation: 'POST /v1/violations/public',
    violation_guide: 'POST /violation/public/create',
    capacity: 'GET /sites/public/site-capacity',
    ticket: 'POST /tickets/public/active-ticket',
  };
  const table = SIMULATED_OPERATIONS.map((name) => [name, `${OPERATIONS[name].method} ${OPERATIONS[name].path}`]);
  expect(Object.fromEntries(table)).toEqual(documented);
});
