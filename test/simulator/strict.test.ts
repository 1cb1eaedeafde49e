import request from 'supertest';
import { OPERATIONS } from '../../src/contracts/service/operations';
import { requestOf, textsOf } from './requests';
import { endAll, simulate } from './support';

/** What the profile of the document refuses, so that a mistake of the client is found before the real service. */
afterEach(endAll);

const missing = { code: 400, message: 'Missing required field' };

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
