import request from 'supertest';
import { systemClock } from '../../src/platform/clock';
import { eventually } from '../support/eventually';
import { requestOf } from './requests';
import { endAll, simulate, type Ordered, type TestSimulator } from './support';

/** Faults on calls to the service. */
afterEach(endAll);

async function statusesOf(simulator: TestSimulator, tow: Ordered) {
  const { tows } = await simulator.world();
  return tows.find(({ towing_reference_id }) => towing_reference_id === tow.towing_reference_id)?.statuses;
}

async function lastCall(simulator: TestSimulator) {
  return (await simulator.calls()).at(-1);
}

async function prepared(options: Parameters<typeof simulate>[0] = {}) {
  const simulator = await simulate(options);
  const tow = await simulator.orderTow();
  const bearer = await simulator.token();
  const detain = () => simulator.operate('detained', requestOf('detained', tow), { bearer });
  return { simulator, tow, bearer, detain };
}

test.each(['400', '401', '403', '404', '408', '500', '502', '503', '504'])(
  'fault %s answers the call with that status and gives it no effect',
  async (fault) => {
    const { simulator, tow, detain } = await prepared();
    await simulator.faults({ operation: 'detained', fault, message: 'as configured' });
    const response = await detain();

    expect([response.status, response.body]).toEqual([
      Number(fault),
      { code: Number(fault), message: 'as configured' },
    ]);
    expect(await statusesOf(simulator, tow)).toEqual([]);
    expect(await lastCall(simulator)).toMatchObject({ status: Number(fault), effect: false, fault });
  },
);

test('fault 302 answers with a redirect and fault html_404 with an HTML page, both without effect', async () => {
  const { simulator, tow, detain } = await prepared();
  await simulator.faults(
    { operation: 'detained', fault: '302', times: 1 },
    { operation: 'detained', fault: 'html_404', times: 1 },
  );
  const redirect = await detain();
  const page = await detain();

  expect([redirect.status, redirect.get('location')]).toEqual([302, '/']);
  expect([page.status, page.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  expect(await statusesOf(simulator, tow)).toEqual([]);
});

test.each([
  ['no time', undefined, 1],
  ['2500 ms', 2500, 3],
])('fault 429 with %s answers with Retry-After and the reset time of the limit', async (_time, ms, seconds) => {
  const { simulator, tow, detain } = await prepared();
  await simulator.faults({ operation: 'detained', fault: '429', ...(ms === undefined ? {} : { ms }) });
  const nowSeconds = systemClock.nowMs() / 1000;
  const response = await detain();

  expect([response.status, response.get('retry-after')]).toEqual([429, String(seconds)]);
  expect([response.get('x-ratelimit-limit'), response.get('x-ratelimit-remaining')]).toEqual([undefined, '0']);
  const reset = Number(response.get('x-ratelimit-reset'));
  expect(reset).toBeGreaterThanOrEqual(nowSeconds + seconds);
  expect(reset).toBeLessThanOrEqual(Math.ceil(systemClock.nowMs() / 1000) + seconds);
  expect(await statusesOf(simulator, tow)).toEqual([]);
});

test.each(['latency', 'late'])('fault %s answers a call after its delay', async (fault) => {
  const { simulator, detain } = await prepared();
  await simulator.faults({ operation: 'detained', fault, ms: 60, times: 1 });
  const startedMs = systemClock.monotonicMs();

  expect((await detain()).status).toBe(200);
  expect(systemClock.monotonicMs() - startedMs).toBeGreaterThanOrEqual(55);
  expect(await lastCall(simulator)).toMatchObject({ status: 200, effect: true, fault });
});

test('fault latency delays the effect of a call, and fault late delays only its answer', async () => {
  const { simulator, tow, detain } = await prepared();
  // So long that no call is answered before the checks.
  await simulator.faults({ operation: 'detained', fault: 'latency', ms: 60_000, times: 1 });
  const slow = detain().catch(() => null);
  await eventually(async () => {
    expect(await lastCall(simulator)).toMatchObject({ status: null, effect: false, fault: 'latency' });
  });
  expect(await statusesOf(simulator, tow)).toEqual([]);

  await simulator.faults({ operation: 'detained', fault: 'late', ms: 60_000, times: 1 });
  const late = detain().catch(() => null);
  await eventually(async () => expect(await statusesOf(simulator, tow)).toHaveLength(1));
  expect(await lastCall(simulator)).toMatchObject({ status: null, effect: true, fault: 'late' });

  await simulator.stop(0);
  expect([await slow, await late]).toEqual([null, null]);
});

test('fault lost_answer gives a call its effect but no answer, and fault drop gives it neither', async () => {
  const { simulator, tow, detain } = await prepared();
  await simulator.faults(
    { operation: 'detained', fault: 'lost_answer', times: 1 },
    { operation: 'detained', fault: 'drop' },
  );

  await expect(detain()).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(await statusesOf(simulator, tow)).toEqual(['detained']);
  expect(await lastCall(simulator)).toMatchObject({ status: null, effect: true, fault: 'lost_answer' });

  await expect(detain()).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(await statusesOf(simulator, tow)).toEqual(['detained']);
  expect(await lastCall(simulator)).toMatchObject({ status: null, effect: false, fault: 'drop' });
});

test('fault lost_answer gives a refused call no effect', async () => {
  const { simulator } = await prepared();
  await simulator.faults({ operation: 'detained', fault: 'lost_answer' });

  await expect(simulator.operate('detained', {})).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(await lastCall(simulator)).toMatchObject({ status: null, effect: false });
});

test('fault hang never answers a call, which ends without effect when the client disconnects', async () => {
  const { simulator, tow, bearer } = await prepared();
  await simulator.faults({ operation: 'detained', fault: 'hang', times: 1 });
  const hanging = request(simulator.url)
    .patch('/v1/tow/public/towing-status/detained')
    .set('authorization', `Bearer ${bearer}`)
    .send(requestOf('detained', tow));
  const outcome = hanging.then(
    () => 'answered',
    (error: unknown) => error,
  );
  await eventually(async () => expect((await lastCall(simulator))?.fault).toBe('hang'));
  hanging.abort();

  expect(await outcome).toMatchObject({ code: 'ABORTED' });
  expect(await lastCall(simulator)).toMatchObject({ status: null, effect: false });
  expect(await statusesOf(simulator, tow)).toEqual([]);
});

test('fault expired_token makes the token of the call invalid for good, while a new token works', async () => {
  const { simulator, detain } = await prepared();
  await simulator.faults({ operation: 'detained', fault: 'expired_token', times: 1 });

  expect([(await detain()).status, (await detain()).status]).toEqual([401, 401]);
  expect((await simulator.operate('detained', requestOf('detained', await simulator.orderTow()))).status).toBe(200);
});

test('fault broken_answer gives a call its effect and answers 200 without the promised data', async () => {
  const { simulator, tow, detain } = await prepared();
  await simulator.faults({ operation: 'detained', fault: 'broken_answer' });
  const response = await detain();

  expect([response.status, response.body]).toEqual([200, { code: 200, message: 'Success', data: {} }]);
  expect(await statusesOf(simulator, tow)).toEqual(['detained']);
});

test('applies the first matching fault rule, to its first calls when it has times, and to every operation when it names *', async () => {
  const { simulator, detain } = await prepared();
  await simulator.faults(
    { operation: 'started', fault: '403' },
    { operation: 'detained', fault: '503', times: 2 },
    { operation: '*', fault: '500', times: 1 },
  );
  const statuses = [];
  for (let count = 0; count < 4; count += 1) statuses.push((await detain()).status);

  expect(statuses).toEqual([503, 503, 500, 200]);
});

test('applies a fault with a rate by the random numbers of the clock', async () => {
  let random = 0;
  const { simulator, detain } = await prepared({ clock: { ...systemClock, random: () => random } });
  await simulator.faults({ operation: 'detained', fault: '500', rate: 0.25 });
  const statuses = [];
  for (random of [0, 0.24, 0.25, 0.9]) statuses.push((await detain()).status);

  expect(statuses).toEqual([500, 500, 200, 200]);
});

test('limits a fault to one tow or to a part of the path', async () => {
  const { simulator, tow, detain } = await prepared();
  const other = await simulator.orderTow();
  await simulator.faults(
    { operation: 'detained', fault: '503', towing_reference_id: tow.towing_reference_id },
    { operation: 'detained', fault: '500', path: '/north/' },
  );
  const detention = requestOf('detained', other);

  expect((await detain()).status).toBe(503);
  expect((await simulator.operate('detained', detention)).status).toBe(200);
  expect((await simulator.operate('detained', detention, { prefix: '/north' })).status).toBe(500);
});

test('applies a fault on token to token requests only', async () => {
  const { simulator, detain } = await prepared();
  await simulator.faults({ operation: 'token', fault: 'expired_token' });

  expect((await simulator.operate('token', requestOf('token', await simulator.orderTow()))).status).toBe(401);
  expect((await detain()).status).toBe(200);
});

test('disconnects a delayed call when the simulator stops', async () => {
  const { simulator, detain } = await prepared();
  await simulator.faults({ operation: 'detained', fault: 'latency', ms: 60_000 });
  const waiting = detain().then(
    () => 'answered',
    () => 'disconnected',
  );
  await eventually(async () => expect((await lastCall(simulator))?.fault).toBe('latency'));
  await simulator.stop(1000);

  expect(await waiting).toBe('disconnected');
});

test('many calls that are delayed at once bring no warning of the process', async () => {
  const { simulator, detain } = await prepared();
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => warnings.push(name);
  process.on('warning', onWarning);
  await simulator.faults({ operation: 'detained', fault: 'latency', ms: 60_000 });
  const waiting = Array.from({ length: 12 }, () => detain().catch(() => 'disconnected'));
  const delayed = async () => (await simulator.calls()).filter(({ fault }) => fault === 'latency');
  await eventually(async () => expect(await delayed()).toHaveLength(12));
  await simulator.stop(1000);
  await Promise.all(waiting);
  process.off('warning', onWarning);

  expect(warnings).toEqual([]);
});
