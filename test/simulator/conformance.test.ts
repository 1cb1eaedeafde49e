import { OPERATIONS, type OperationName } from '../../src/contracts/operations';
import { envelope } from '../../src/contracts/service';
import { OPERATION_NAMES } from '../../src/simulator/faults';
import { requestOf } from './requests';
import { endAll, simulate } from './support';

afterEach(endAll);

const protectedNames = OPERATION_NAMES.filter((name) => name !== 'token');

describe.each([
  ['at the root', '', 'bare'],
  ['below a prefix', '/gate/parking/api', 'bare'],
  ['in the envelope', '', 'envelope'],
] as const)('%s', (_where, prefix, answers45) => {
  test.each(OPERATION_NAMES)('%s answers what its contract says', async (name) => {
    const simulator = await simulate({ answers45 });
    const answer = await simulator.operate(name, requestOf(name, await simulator.orderTow()), { prefix });

    expect(answer.status).toBe(200);
    const { answerShape, answer: contract } = OPERATIONS[name];
    const isBare = answerShape === 'bare_or_envelope' && answers45 === 'bare';
    const success = { code: 200, message: 'Success' };
    const { code, message, data } = isBare ? { ...success, data: answer.json } : envelope.parse(answer.json);
    expect({ code, message }).toEqual(success);
    contract.parse(data);
  });
});

test.each(OPERATION_NAMES)('%s gives every documented common error', async (name) => {
  const simulator = await simulate();
  const request = requestOf(name, await simulator.orderTow());
  const bearer = await simulator.token();
  const given = [];

  given.push(await simulator.operate(name, name === 'token' ? {} : request, { bearer: null }));
  await simulator.control('PUT', '/access', { denied: [name] });
  given.push(await simulator.operate(name, request, { bearer }));
  await simulator.faults({ operation: name, fault: '500' });
  given.push(await simulator.operate(name, request, { bearer }));

  expect(given.map(({ status, json }) => ({ status, json }))).toEqual(
    [
      { httpStatus: 401, message: 'Unauthorized' },
      { httpStatus: 403, message: 'Access denied' },
      { httpStatus: 500, message: 'Internal Server Error' },
    ].map(({ httpStatus, message }) => ({ status: httpStatus, json: { code: httpStatus, message } })),
  );
  for (const { status } of given)
    expect(OPERATIONS[name].refusals.map(({ httpStatus }) => httpStatus)).toContain(status);
  expect((await simulator.world()).counts).toMatchObject({ statuses: 0, invoices: 0, violations_reported: 0 });
});

test.each(protectedNames)('%s with another method is no operation of the service', async (name) => {
  const simulator = await simulate();
  const response = await fetch(`${simulator.url}${OPERATIONS[name].path}`, { method: 'PUT' });

  expect(response.status).toBe(404);
  expect(await simulator.calls()).toEqual([]);
});

test('an operation is found under a trailing slash too', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow();
  const response = await fetch(`${simulator.url}/x${OPERATIONS.detained.path}/`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${await simulator.token()}` },
    body: JSON.stringify(requestOf('detained', tow)),
  });

  expect(response.status).toBe(200);
});

test('the table names exactly the operations of the document', () => {
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
  const table = OPERATION_NAMES.map((name) => [name, `${OPERATIONS[name].method} ${OPERATIONS[name].path}`]);
  expect(Object.fromEntries(table)).toEqual(documented);
});
