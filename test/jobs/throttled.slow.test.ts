import { CALLS, runOutbox } from '../../jobs/run-outbox';
import { systemClock, type Clock } from '../../src/platform/clock';
import type { ServiceClient } from '../../src/service';
import { createBudgets, slidingWindow, type BudgetSettings } from '../../src/store/service/budgets';
import { KEYS } from '../../src/store/keys';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { createSendingStore } from '../../src/store/service/sending';
import { enveloped, json, type FakeReply, type FakeService } from '../service/fake-service';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { FAST_RETRIES, GRACE_MS, openStores, START, type Stores } from '../support/stores';
import { startWorkerFor, TAKEN, type ViolationWorker } from './violation-world';
import { stoppedAfter } from './run-steps';
import { unobserved } from '../support/unobserved';
import { clientFor, useFakeService } from '../service/client-under-test';

const redis = useRedis();
const NO_LIMITS: BudgetSettings = { auth: 0, site: 0, violations: 0, tickets: 0, tow: 0 };

let fake: FakeService;
let stores: Stores;
let violations: ViolationWorker;
const opened: Stores[] = [];
useFakeService((world) => ({ fake } = world));
beforeEach(async () => {
  stores = await openStores(redis.url);
  opened.push(stores);
  fake.onCall(answerTo);
  violations = await startWorkerFor(redis.url);
});
afterEach(async () => {
  for (const open of opened.splice(0)) open.close();
  await violations.stop();
});

/** The answer that accepts a call. */
function answerTo({ url, body }: { url: string; body: Buffer }): FakeReply {
  if (url.endsWith('/violations/public')) return TAKEN;
  const [, ref = ''] = /"towing_reference_id":"([^"]+)"/.exec(body.toString()) ?? [];
  return enveloped({ towing_reference_id: ref });
}

const tooMany = (headers: Record<string, string> = {}): FakeReply => ({
  ...json({ message: 'Too Many Requests' }, 429),
  headers,
});

interface Process {
  readonly service: ServiceClient;
  readonly run: (ref: string) => Promise<string>;
}

/** A process with its own connections, whose rate limits count in minutes of this length. */
async function processWith(
  minuteMs: number,
  limits: Partial<BudgetSettings> = {},
  clock: Clock = systemClock,
): Promise<Process> {
  const own = await openStores(redis.url);
  opened.push(own);
  const perMinute = { ...NO_LIMITS, ...limits };
  const service = clientFor(fake.url, {
    timeoutMs: 5000,
    budgets: createBudgets(own.redis, perMinute, minuteMs),
    clock,
  });
  const rateLimit = slidingWindow(perMinute.tow, minuteMs);
  const limited = { leaseMs: 20_000, graceMs: GRACE_MS, giveUpAfterMs: 3_600_000, rateLimit };
  const outbox = createTowOutbox(own.redis, systemClock, limited);
  const tools = {
    outbox,
    records: own.records,
    service,
    settings: FAST_RETRIES,
    claimMaxAgeMs: 10_000,
    ...unobserved(),
  };
  return { service, run: async (ref) => (await runOutbox(CALLS.tow, ref, tools, stoppedAfter(1))).what };
}

async function start(...refs: string[]): Promise<void> {
  for (const ref of refs) {
    await stores.request(ref);
    await stores.say(ref, START);
  }
}

const sending = () => createSendingStore(stores.redis, NO_LIMITS).read();
const towCalls = () => fake.calls.filter(({ url }) => url.includes('/tow/'));

test('ten answers of 429 in a row to reports of five tows open no outage, and all reports are sent afterwards', async () => {
  const refs = ['A', 'B', 'C', 'D', 'E'];
  await start(...refs);
  const { run } = await processWith(600);
  fake.onCall((call) => (fake.calls.length > 10 ? answerTo(call) : tooMany()));
  await Promise.all(refs.map(run));
  expect(fake.calls).toHaveLength(5);

  await eventually(async () => {
    for (const ref of refs) await run(ref);
    expect(fake.calls.length).toBeGreaterThanOrEqual(10);
  });

  expect(await sending()).toMatchObject({
    service: { state: 'working', failures: 0 },
    connection: { state: 'working' },
    held: 0,
  });
  expect(await stores.redis.hlen(KEYS.tasks)).toBe(0);
  await eventually(async () => {
    for (const ref of refs) await run(ref);
    for (const ref of refs) expect((await stores.read(ref)).reports).toMatchObject([{ state: 'accepted' }]);
  });
});

test('a 429 on a report keeps all reports back until the time that it names, and no violation', async () => {
  await start('A', 'B');
  const [first, other] = [await processWith(60_000), await processWith(60_000)];
  fake.onCall((call) => (call.url.includes('/tow/') ? tooMany({ 'retry-after': '600' }) : answerTo(call)));
  await violations.reportWithImage('U1');

  expect(await first.run('A')).toBe('retry');

  expect([await first.run('A'), await first.run('B'), await other.run('B')]).toEqual(['wait', 'wait', 'wait']);
  expect(towCalls()).toHaveLength(1);
  for (const ref of ['A', 'B']) {
    expect((await stores.read(ref)).reports).toMatchObject([{ state: 'pending', waitsFor: 'budget' }]);
    const waitsMs = ((await stores.dueAt(ref)) ?? 0) - systemClock.nowMs();
    expect(waitsMs).toBeGreaterThan(590_000);
    expect(waitsMs).toBeLessThan(603_000);
  }
  expect(await violations.wake('U1', { service: first.service })).toBe('accepted');
});

/**
 * Times of calls whose runs follow each other. A permit is taken after its run began and before its call arrived, so two
 * permits are not further apart than from the beginning of one run to the arrival of the other call.
 */
function timedCalls() {
  const calls: { beganMs: number; arrivedMs: number }[] = [];
  let beganMs = 0;
  return {
    arrived: () => void calls.push({ beganMs, arrivedMs: systemClock.monotonicMs() }),
    timed<T>(run: () => Promise<T>): Promise<T> {
      beganMs = systemClock.monotonicMs();
      return run();
    },
    /** The permits of the two calls were at most this far apart. */
    longestSpanMs: (first: number, later: number) =>
      (calls[later]?.arrivedMs ?? 0) - (calls[first]?.beganMs ?? Infinity),
  };
}

test('a 429 on a violation keeps all violations back, and no report', async () => {
  await start('A');
  const { run, service } = await processWith(60_000);
  fake.onCall((call) => (call.url.includes('/tow/') ? answerTo(call) : tooMany({ 'retry-after': '600' })));
  for (const id of ['U1', 'U2']) await violations.reportWithImage(id);

  expect(await violations.wake('U1', { service })).toBe('retry');
  // The worker of the violations has its own connection: it learns of it within its next read of the circuits.
  await eventually(async () => expect(await violations.wake('U2', { service })).toBe('wait'));

  expect(await run('A')).toBe('accepted');
});

test('one call tries when the time of a 429 is over, and the others follow after it', async () => {
  const refs = ['A', 'B', 'C', 'D'];
  await start(...refs);
  const { run } = await processWith(9000);
  fake.onCall((call, nth) => (nth === 1 ? tooMany({ 'x-ratelimit-reset': '1' }) : answerTo(call)));
  expect(await run('A')).toBe('retry');
  for (const ref of ['B', 'C', 'D']) expect(await run(ref)).toBe('wait');
  const calls = timedCalls();
  fake.onCall((call) => {
    calls.arrived();
    return answerTo(call);
  });

  await eventually(async () => {
    for (const ref of ['D', 'C', 'B', 'A']) await calls.timed(() => run(ref));
    expect(towCalls()).toHaveLength(5);
  });

  // The first in line tries, which is the tow that was refused: the others joined the line after it.
  const order = towCalls().map(({ body }) => /"towing_reference_id":"(\w)"/.exec(body.toString())?.[1]);
  expect(order[1]).toBe('A');
  // A thirtieth of the minute, less the time between a permit and its run.
  expect(calls.longestSpanMs(0, 1)).toBeGreaterThan(200);
});

test('two processes never exceed a lower limit that the service announces', async () => {
  const [limit, minuteMs] = [4, 1000];
  const refs = Array.from({ length: 11 }, (_, index) => `T${index}`);
  await start(...refs);
  const processes = [await processWith(minuteMs, { tow: 100 }), await processWith(minuteMs)];
  const calls = timedCalls();
  fake.onCall((call) => {
    calls.arrived();
    const headers = { 'x-ratelimit-limit': String(limit), 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': '1' };
    return { ...answerTo(call), headers };
  });
  expect(await calls.timed(async () => processes[0]?.run('T0'))).toBe('accepted');
  const waiting = new Set(refs.slice(1));

  await eventually(async () => {
    for (const { run } of processes) {
      // A copy: accepted tows are removed from the set meanwhile.
      for (const ref of Array.from(waiting))
        if ((await calls.timed(() => run(ref))) === 'accepted') waiting.delete(ref);
    }
    expect(waiting.size).toBe(0);
  });

  const { windowMs } = slidingWindow(limit, minuteMs);
  expect(towCalls()).toHaveLength(refs.length);
  const spans = refs.slice(limit).map((_, index) => calls.longestSpanMs(index, index + limit));
  expect(Math.min(...spans)).toBeGreaterThan(windowMs - 40);
});

test('reports wait for the reset when the service says that no call is left, although none was refused', async () => {
  await start('A', 'B');
  const [first, other] = [await processWith(60_000), await processWith(60_000, { tow: 100 })];
  const headers = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '300' };
  fake.onCall((call) => ({ ...answerTo(call), headers }));
  expect(await first.run('A')).toBe('accepted');

  expect([await first.run('B'), await other.run('B')]).toEqual(['wait', 'wait']);

  const waitsMs = ((await stores.dueAt('B')) ?? 0) - systemClock.nowMs();
  expect(waitsMs).toBeGreaterThan(290_000);
  expect(waitsMs).toBeLessThan(301_000);
});

test.each([
  ['an hour behind', -3_600_000],
  ['an hour ahead', 3_600_000],
])('reports wait for a reset at a UNIX time as long as the service means, with a clock %s', async (_, aheadMs) => {
  await start('A', 'B');
  const { run } = await processWith(60_000, {}, { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs });
  fake.onCall((call) => {
    const resetS = Math.ceil(systemClock.nowMs() / 1000) + 300;
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(resetS) };
    return { ...answerTo(call), headers };
  });
  expect(await run('A')).toBe('accepted');

  expect(await run('B')).toBe('wait');

  const waitsMs = ((await stores.dueAt('B')) ?? 0) - systemClock.nowMs();
  expect(waitsMs).toBeGreaterThan(290_000);
  expect(waitsMs).toBeLessThan(304_000);
});

test.each([
  ['a 429', (): FakeReply => tooMany()],
  ['a token', (): FakeReply => enveloped({ token: 'token-1' })],
])('an hour until the reset closes the token calls for at most four minutes after %s', async (_, answer) => {
  await start('A');
  const { run } = await processWith(60_000);
  const headers = { 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '3600' };
  fake.onTokenCall(() => ({ ...answer(), headers }));

  await run('A');

  const permit = await createBudgets(stores.redis, NO_LIMITS).reserve('auth', 0);
  expect(permit).toMatchObject({ granted: false });
  expect(permit.inMs).toBeGreaterThan(220_000);
  expect(permit.inMs).toBeLessThanOrEqual(240_000);
  const waitsMs = ((await stores.dueAt('A')) ?? 0) - systemClock.nowMs();
  expect(waitsMs).toBeLessThan(300_000);
});

test.each([
  { 'x-ratelimit-limit': 'none', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': 'later' },
  { 'x-ratelimit-limit': '0', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '60' },
])('rate limit headers that make no sense change nothing: %j', async (headers) => {
  const refs = ['A', 'B', 'C'];
  await start(...refs);
  const { run } = await processWith(60_000);
  fake.onCall((call) => ({ ...answerTo(call), headers }));

  for (const ref of refs) expect(await run(ref)).toBe('accepted');

  expect(await stores.redis.hgetall(KEYS.circuits)).toEqual({});
});
