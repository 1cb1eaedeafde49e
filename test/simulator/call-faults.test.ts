import { systemClock } from '../../src/platform/clock';
import { requestOf } from './requests';
import { endAll, simulate, until, type Ordered, type Simulated } from './support';

/** Faults on calls to the service. */
afterEach(endAll);

async function statusesOf(simulator: Simulated, tow: Ordered) {
  const { tows } = await simulator.world();
  return tows.find(({ towing_reference_id }) => towing_reference_id === tow.towing_reference_id)?.statuses;
}

async function lastCall(simulator: Simulated) {
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
  'fault %s answers that status and has no effect',
  async (fault) => {
    const { simulator, tow, detain } = await prepared();
    await simulator.faults({ operation: 'detained', fault, message: 'as told' });
    const answer = await detain();

    expect([answer.status, answer.json]).toEqual([Number(fault), { code: Number(fault), message: 'as told' }]);
    expect(await statusesOf(simulator, tow)).toEqual([]);
    expect(await lastCall(simulator)).toMatchObject({ status: Number(fault), effect: false, fault });
  },
);

test('fault 302 redirects and fault html_404 answers a page, both without effect', async () => {
  const { simulator, tow, detain } = await prepared();
  await simulator.faults(
    { operation: 'detained', fault: '302', times: 1 },
    { operation: 'detained', fault: 'html_404', times: 1 },
  );
  const redirect = await detain();
  const page = await detain();

  expect([redirect.status, redirect.headers.get('location')]).toEqual([302, '/']);
  expect([page.status, page.headers.get('content-type'), page.json]).toEqual([
    404,
    'text/html; charset=utf-8',
    undefined,
  ]);
  expect(await statusesOf(simulator, tow)).toEqual([]);
});

test.each([
  [undefined, 1],
  [2500, 3],
])('fault 429 with %s ms tells to wait %s s and when the limit ends', async (ms, seconds) => {
  const { simulator, tow, detain } = await prepared();
  await simulator.faults({ operation: 'detained', fault: '429', ...(ms === undefined ? {} : { ms }) });
  const nowSeconds = systemClock.nowMs() / 1000;
  const { status, headers } = await detain();

  expect([status, headers.get('retry-after')]).toEqual([429, String(seconds)]);
  expect([headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).toEqual(['60', '0']);
  const reset = Number(headers.get('x-ratelimit-reset'));
  expect(reset).toBeGreaterThanOrEqual(nowSeconds + seconds);
  expect(reset).toBeLessThan(nowSeconds + seconds + 10);
  expect(await statusesOf(simulator, tow)).toEqual([]);
});

test('latency works after the time, late works at once and answers after it', async () => {
  const { simulator, tow, detain } = await prepared();
  await simulator.faults({ operation: 'detained', fault: 'latency', ms: 60, times: 1 });
  const startedMs = systemClock.monotonicMs();
  const slow = detain();
  await until(async () => (await lastCall(simulator))?.fault === 'latency');
  expect(await lastCall(simulator)).toMatchObject({ status: null, effect: false });
  expect((await slow).status).toBe(200);
  expect(systemClock.monotonicMs() - startedMs).toBeGreaterThanOrEqual(55);

  await simulator.faults({ operation: 'detained', fault: 'late', ms: 800, times: 1 });
  const late = detain();
  await until(async () => (await statusesOf(simulator, tow))?.length === 2);
  expect(await lastCall(simulator)).toMatchObject({ status: null, effect: true, fault: 'late' });
  expect((await late).status).toBe(200);
  expect(await lastCall(simulator)).toMatchObject({ status: 200, effect: true });
});

test('lost_answer has the effect, drop has none, and neither answers', async () => {
  const { simulator, tow, detain } = await prepared();
  await simulator.faults(
    { operation: 'detained', fault: 'lost_answer', times: 1 },
    { operation: 'detained', fault: 'drop' },
  );

  await expect(detain()).rejects.toThrow('fetch failed');
  expect(await statusesOf(simulator, tow)).toEqual(['detained']);
  expect(await lastCall(simulator)).toMatchObject({ status: null, effect: true, fault: 'lost_answer' });

  await expect(detain()).rejects.toThrow('fetch failed');
  expect(await statusesOf(simulator, tow)).toEqual(['detained']);
  expect(await lastCall(simulator)).toMatchObject({ status: null, effect: false, fault: 'drop' });
});

test('a lost answer to a refused call has no effect', async () => {
  const { simulator } = await prepared();
  await simulator.faults({ operation: 'detained', fault: 'lost_answer' });

  await expect(simulator.operate('detained', {})).rejects.toThrow('fetch failed');
  expect(await lastCall(simulator)).toMatchObject({ status: null, effect: false });
});

test('hang never answers and ends with the client', async () => {
  const { simulator, tow, bearer } = await prepared();
  await simulator.faults({ operation: 'detained', fault: 'hang', times: 1 });
  const leaving = new AbortController();
  const hanging = fetch(`${simulator.url}/v1/tow/public/towing-status/detained`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${bearer}` },
    body: JSON.stringify(requestOf('detained', tow)),
    signal: leaving.signal,
  });
  await until(async () => (await lastCall(simulator))?.fault === 'hang');
  leaving.abort();

  await expect(hanging).rejects.toThrow('aborted');
  expect(await lastCall(simulator)).toMatchObject({ status: null, effect: false });
  expect(await statusesOf(simulator, tow)).toEqual([]);
});

test('expired_token answers 401 and that token stays useless, a new one works', async () => {
  const { simulator, detain } = await prepared();
  await simulator.faults({ operation: 'detained', fault: 'expired_token', times: 1 });

  expect([(await detain()).status, (await detain()).status]).toEqual([401, 401]);
  expect((await simulator.operate('detained', requestOf('detained', await simulator.orderTow()))).status).toBe(200);
});

test('broken_answer has the effect and answers 200 without what was promised', async () => {
  const { simulator, tow, detain } = await prepared();
  await simulator.faults({ operation: 'detained', fault: 'broken_answer' });
  const answer = await detain();

  expect([answer.status, answer.json]).toEqual([200, { code: 200, message: 'Success', data: {} }]);
  expect(await statusesOf(simulator, tow)).toEqual(['detained']);
});

test('times hits the first calls, the first rule that matches wins, and * is every operation', async () => {
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

test('rate hits by the clock’s randomness', async () => {
  let random = 0;
  const { simulator, detain } = await prepared({ clock: { ...systemClock, random: () => random } });
  await simulator.faults({ operation: 'detained', fault: '500', rate: 0.25 });
  const statuses = [];
  for (random of [0, 0.24, 0.25, 0.9]) statuses.push((await detain()).status);

  expect(statuses).toEqual([500, 500, 200, 200]);
});

test('a fault can be kept to one tow or to a part of the path', async () => {
  const { simulator, tow, detain } = await prepared();
  const other = await simulator.orderTow();
  await simulator.faults(
    { operation: 'detained', fault: '503', towing_reference_id: tow.towing_reference_id },
    { operation: 'detained', fault: '500', path: '/north/' },
  );
  const request = requestOf('detained', other);

  expect((await detain()).status).toBe(503);
  expect((await simulator.operate('detained', request)).status).toBe(200);
  expect((await simulator.operate('detained', request, { prefix: '/north' })).status).toBe(500);
});

test('a fault on the token leaves the operations alone', async () => {
  const { simulator, detain } = await prepared();
  await simulator.faults({ operation: 'token', fault: 'expired_token' });

  expect((await simulator.operate('token', requestOf('token', await simulator.orderTow()))).status).toBe(401);
  expect((await detain()).status).toBe(200);
});

test('a call that waits ends at once when the simulator stops', async () => {
  const { simulator, detain } = await prepared();
  await simulator.faults({ operation: 'detained', fault: 'latency', ms: 60_000 });
  const waiting = detain().then(
    () => 'answered',
    () => 'cut',
  );
  await until(async () => (await lastCall(simulator))?.fault === 'latency');
  await simulator.stop(1000);

  expect(await waiting).toBe('cut');
});
