import { systemClock } from '../../src/platform/clock';
import { towKey } from '../../src/store/keys';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { FAILING, refusedWith } from '../support/exchanges';
import { NO_LIMITS, type ClaimedReport } from '../support/outboxes';
import { eventually } from '../support/eventually';
import { ACCEPTED, GRACE_MS, INVOICE, LEASE_MS, mustClaim, useStores, result, START } from '../support/stores';
import { letTry as letTryCircuit, setCircuit } from '../support/stored-records';
import { reportProbe } from '../../src/workflow/outbox/prove-connection';

/** Long enough that nothing becomes due during a test. */
const LATER_MS = 60_000;

const stores = useStores({ leaseMs: LATER_MS });

const FAILED = { next: 'retry', delayMs: 0, because: 'failed' } as const;

const failing = (outageDelayMs = LATER_MS) => result(FAILED, { exchange: FAILING, outageDelayMs });
const alive = () => result(ACCEPTED);

async function tows(...refs: string[]): Promise<void> {
  for (const ref of refs) {
    await stores.request(ref);
    await stores.say(ref, START);
  }
}

/** A tow whose next report is the invoice request, which must not be repeated blindly. */
async function towAtInvoice(ref: string): Promise<void> {
  await tows(ref);
  await stores.say(ref, INVOICE);
  await stores.outbox.settle(await mustClaim(stores.outbox, ref), alive());
}

const fail = async (ref: string, outageDelayMs?: number) =>
  stores.outbox.settle(await mustClaim(stores.outbox, ref), failing(outageDelayMs));

/** Five failures of three tows. */
async function breakDown(outageDelayMs?: number): Promise<void> {
  for (const ref of ['A', 'B', 'C', 'A', 'B']) await fail(ref, outageDelayMs);
}

/** Its claims end within a test. */
const outboxOfLostWorkers = () =>
  createTowOutbox(stores.redis, systemClock, { leaseMs: LEASE_MS, graceMs: GRACE_MS, ...NO_LIMITS });

/** Lets the next call probe the service. */
const letTry = () => letTryCircuit(stores.redis, 'outage');
const openTasks = () => stores.redis.hkeys('{towhook-main}:tasks');
const claim = (ref: string) => stores.outbox.claim(ref);

test('five consecutive failures of three tows open the service circuit, block all reports and open one task', async () => {
  await tows('A', 'B', 'C', 'D');
  for (const ref of ['A', 'B', 'C', 'A']) await fail(ref);
  expect(await openTasks()).toEqual([]);

  await fail('B');

  for (const ref of ['A', 'B', 'C', 'D']) expect((await claim(ref)).kind).toBe('wait');
  expect(await openTasks()).toEqual(['outage']);
  expect((await stores.read('D')).reports[0]).toMatchObject({ waitsFor: 'outage', attempts: 0 });
});

test('failures of only two tows, however many, do not open the service circuit', async () => {
  await tows('A', 'B', 'C');
  for (let turn = 0; turn < 10; turn += 1) await fail(turn % 2 === 0 ? 'A' : 'B');

  expect((await claim('C')).kind).toBe('send');
  expect(await openTasks()).toEqual([]);
});

test('a successful call resets the failure count of the service circuit', async () => {
  await tows('A', 'B', 'C', 'D', 'E');
  for (const ref of ['A', 'B', 'C', 'A']) await fail(ref);
  await stores.outbox.settle(await mustClaim(stores.outbox, 'D'), alive());
  for (const ref of ['A', 'B', 'C', 'A']) await fail(ref);

  expect((await claim('E')).kind).toBe('send');
});

test('while the service circuit is open one tow at a time probes the service, and never the tow that probed last', async () => {
  await tows('A', 'B', 'C', 'D');
  await breakDown();
  for (const ref of ['A', 'B', 'C', 'D']) await claim(ref);
  await letTry();

  const probe = await mustClaim(stores.outbox, 'A');
  for (const ref of ['B', 'C', 'D']) expect((await claim(ref)).kind).toBe('wait');
  await stores.outbox.settle(probe, failing());
  await letTry();

  expect((await claim('A')).kind).toBe('wait');
  expect((await claim('B')).kind).toBe('send');
});

test('a failed probe blocks sending for the given delay, and the next probe carries the number of failed probes', async () => {
  await tows('A', 'B', 'C');
  await breakDown();
  for (const ref of ['A', 'B', 'C']) await claim(ref);
  await letTry();
  const probe = await mustClaim(stores.outbox, 'A');
  const failedAtMs = (await stores.read('A')).readAtMs;
  await stores.outbox.settle(probe, failing(12_345));

  const closed = await claim('B');
  expect(closed.kind === 'wait' ? closed.untilMs : 0).toBeGreaterThanOrEqual(failedAtMs + 12_345);
  await letTry();
  expect(await claim('B')).toMatchObject({ kind: 'send', failedProbes: 1 });
});

test('an invoice request does not probe the service while another blocked report can', async () => {
  await towAtInvoice('I');
  await tows('A', 'B', 'C');
  await breakDown();
  for (const ref of ['A', 'B', 'C', 'I']) await claim(ref);
  await letTry();

  expect((await claim('I')).kind).toBe('wait');

  const dueNow = await stores.redis.zrangebyscore('{towhook-main}:due:tows', '-inf', (await stores.read('A')).readAtMs);
  expect(['A', 'B', 'C']).toContain(dueNow[0]);
});

test('the token call probes the service when only invoice requests are blocked', async () => {
  for (const ref of ['A', 'B', 'C']) await towAtInvoice(ref);
  await breakDown();
  for (const ref of ['A', 'B', 'C']) await claim(ref);
  await letTry();

  expect(await claim('A')).toEqual({ kind: 'probe', failedProbes: 0 });
  expect((await claim('B')).kind).toBe('wait');
  await reportProbe(stores.records, { service: 'failing', delayMs: 0 });
  await eventually(async () => expect(await claim('B')).toEqual({ kind: 'probe', failedProbes: 1 }));
  await reportProbe(stores.records, { service: 'alive', delayMs: 0 });

  expect((await claim('C')).kind).toBe('send');
  expect(await openTasks()).toEqual([]);
});

test('the token call probes the service when the only report that could cannot be decoded', async () => {
  await towAtInvoice('I');
  await tows('P', 'A', 'B', 'C');
  await breakDown();
  for (const ref of ['A', 'B', 'C']) await stores.decide(ref, 'started-1', { action: 'waive', reason: 'seen' });
  for (const ref of ['P', 'I']) await claim(ref);
  await stores.redis.hset(towKey('P'), 'head', 'broken');
  await letTry();
  expect((await claim('I')).kind).toBe('wait');
  await expect(claim('P')).rejects.toThrow('the tow P cannot be decoded');

  await setCircuit(stores.redis, 'outage', { untilMs: Date.now() - LATER_MS });

  expect(await claim('I')).toEqual({ kind: 'probe', failedProbes: 0 });
});

test('closing the service circuit makes all blocked tows due at once and closes the task', async () => {
  const held = Array.from({ length: 30 }, (_, index) => `T${index}`);
  await tows('A', 'B', 'C', ...held);
  await breakDown();
  for (const ref of ['A', 'B', 'C', ...held]) await claim(ref);
  await letTry();
  const probe = await mustClaim(stores.outbox, 'A');

  await stores.outbox.settle(probe, alive());

  // The time of this process may lag a little behind that of Redis.
  const soonMs = (await stores.read('A')).readAtMs + 1000;
  const due = await stores.redis.zrangebyscore('{towhook-main}:due:tows', '-inf', soonMs);
  expect(due).toEqual(expect.arrayContaining(['B', 'C', ...held]));
  expect(await openTasks()).toEqual([]);
  for (const ref of ['B', 'C', ...held]) expect((await claim(ref)).kind).toBe('send');
});

test('only a few of many blocked tows become due when the service may be probed', async () => {
  const held = Array.from({ length: 40 }, (_, index) => `T${index}`);
  await tows('A', 'B', 'C', ...held);
  await breakDown(2000);
  for (const ref of ['A', 'B', 'C', ...held]) await claim(ref);

  const soonMs = (await stores.read('A')).readAtMs + 5000;
  const lookers = await stores.redis.zcount('{towhook-main}:due:tows', '-inf', soonMs);

  expect(lookers).toBeGreaterThan(0);
  expect(lookers).toBeLessThanOrEqual(10);
});

test('another tow probes the service after the worker of a probe is lost', async () => {
  await tows('A', 'B', 'C');
  await breakDown();
  for (const ref of ['A', 'B', 'C']) await claim(ref);
  await letTry();
  await mustClaim(outboxOfLostWorkers(), 'A');

  await eventually(async () => expect((await claim('B')).kind).toBe('send'));
});

test('a report is not sent before the Retry-After time of the service, even when the service circuit closes earlier', async () => {
  await tows('A', 'B', 'C', 'D');
  for (const ref of ['A', 'B', 'C', 'A']) await fail(ref);
  const exchange = refusedWith(503, null, Date.now() + LATER_MS);
  const asked = { ...failing(), exchange, verdict: { ...FAILED, delayMs: LATER_MS } };
  await stores.outbox.settle(await mustClaim(stores.outbox, 'B'), asked);
  await claim('D');
  await letTry();
  await stores.outbox.settle(await mustClaim(stores.outbox, 'D'), alive());

  const wait = await claim('B');
  expect(wait.kind === 'wait' ? wait.untilMs - (await stores.read('B')).readAtMs : 0).toBeGreaterThan(LATER_MS - 5000);
});

test('a broken connection replaces an outage: only the task of the connection is open', async () => {
  await tows('A', 'B', 'C', 'D');
  await breakDown();
  for (const ref of ['A', 'B', 'C', 'D']) await claim(ref);
  await letTry();
  const broken = { next: 'hold', delayMs: 0, because: 'connection' } as const;

  await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), result(broken));

  expect(await openTasks()).toEqual(['connection']);
  const next = await eventually(() => mustClaim(stores.outbox, 'B'));
  await stores.outbox.settle(next, alive());
  expect(await openTasks()).toEqual([]);
  expect((await claim('C')).kind).toBe('send');
});

test('a late answer closes the service circuit too', async () => {
  await tows('A', 'B', 'C', 'L');
  const late: ClaimedReport = await mustClaim(outboxOfLostWorkers(), 'L');
  await breakDown();
  await eventually(async () => expect((await claim('L')).kind).toBe('wait'));

  await stores.outbox.settle(late, alive());

  expect(await openTasks()).toEqual([]);
});

test('a blocked tow whose report was settled manually no longer probes the service', async () => {
  await tows('A', 'B', 'C', 'D');
  await breakDown();
  for (const ref of ['A', 'B', 'C', 'D']) await claim(ref);
  for (const ref of ['B', 'C', 'D']) await stores.decide(ref, 'started-1', { action: 'waive', reason: 'seen' });
  for (const ref of ['B', 'C', 'D']) expect((await claim(ref)).kind).toBe('idle');
  await letTry();
  await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), failing());
  await letTry();

  expect(await claim('A')).toEqual({ kind: 'probe', failedProbes: 1 });
});
