import type { Claimed } from '../../src/workflow/outbox-port';
import { entryOf } from '../support/audit';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { ACCEPTED, INVOICE, mustClaim, openStores, result, START, type Stores } from '../support/stores';

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

/** Long enough that nothing comes due by itself while a test looks. */
const LATER_MS = 60_000;
const FAILED = { next: 'retry', delayMs: 0, because: 'failed' } as const;

const failing = (outageDelayMs = LATER_MS) => result(FAILED, { service: 'failing', wasAnswered: true, outageDelayMs });
const alive = () => result(ACCEPTED);

async function tows(...refs: string[]): Promise<void> {
  for (const ref of refs) {
    await stores.request(ref);
    await stores.say(ref, START);
  }
}

/** A tow whose head is the invoice request, which is not safe to repeat. */
async function towAtInvoice(ref: string): Promise<void> {
  await tows(ref);
  await stores.say(ref, INVOICE);
  await stores.outbox.ack(await mustClaim(stores.outbox, ref), alive());
}

const fail = async (ref: string, outageDelayMs?: number) =>
  stores.outbox.ack(await mustClaim(stores.outbox, ref), failing(outageDelayMs));

/** Five failures of three tows. */
async function breakDown(outageDelayMs?: number): Promise<void> {
  for (const ref of ['A', 'B', 'C', 'A', 'B']) await fail(ref, outageDelayMs);
}

/** The moment has come at which one call may try. */
const letTry = () => stores.redis.hset('{p0}:gates', 'outage.until', 1);
const openTasks = () => stores.redis.hkeys('{p0}:tasks');
const claim = (ref: string) => stores.outbox.claim(ref);

test('five failures in a row from three tows hold all sending, and are one task', async () => {
  await tows('A', 'B', 'C', 'D');
  for (const ref of ['A', 'B', 'C', 'A']) await fail(ref);
  expect(await openTasks()).toEqual([]);

  await fail('B');

  for (const ref of ['A', 'B', 'C', 'D']) expect((await claim(ref)).kind).toBe('wait');
  expect(await openTasks()).toEqual(['outage']);
  expect((await stores.read('D')).reports[0]).toMatchObject({ waitsFor: 'outage', attempts: 0 });
});

test('any number of failures of two tows is their own trouble', async () => {
  await tows('A', 'B', 'C');
  for (let turn = 0; turn < 10; turn += 1) await fail(turn % 2 === 0 ? 'A' : 'B');

  expect((await claim('C')).kind).toBe('send');
  expect(await openTasks()).toEqual([]);
});

test('a call that works in between begins the count anew', async () => {
  await tows('A', 'B', 'C', 'D', 'E');
  for (const ref of ['A', 'B', 'C', 'A']) await fail(ref);
  await stores.outbox.ack(await mustClaim(stores.outbox, 'D'), alive());
  for (const ref of ['A', 'B', 'C', 'A']) await fail(ref);

  expect((await claim('E')).kind).toBe('send');
});

test('in an outage one tow at a time tries, and never the one that tried last', async () => {
  await tows('A', 'B', 'C', 'D');
  await breakDown();
  for (const ref of ['A', 'B', 'C', 'D']) await claim(ref);
  await letTry();

  const probe = await mustClaim(stores.outbox, 'A');
  for (const ref of ['B', 'C', 'D']) expect((await claim(ref)).kind).toBe('wait');
  await stores.outbox.ack(probe, failing());
  await letTry();

  expect((await claim('A')).kind).toBe('wait');
  expect((await claim('B')).kind).toBe('send');
});

test('a failed try leaves the service alone for the time that was given, and says how many there were', async () => {
  await tows('A', 'B', 'C');
  await breakDown();
  for (const ref of ['A', 'B', 'C']) await claim(ref);
  await letTry();
  await stores.outbox.ack(await mustClaim(stores.outbox, 'A'), failing(12_345));

  const closed = await claim('B');
  expect(closed.kind === 'wait' ? closed.untilMs - (await stores.read('B')).readAtMs : 0).toBeGreaterThan(11_000);
  await letTry();
  expect(await claim('B')).toMatchObject({ kind: 'send', failedProbes: 1 });
});

test('an invoice request never tries an outage while another report can', async () => {
  await towAtInvoice('I');
  await tows('A', 'B', 'C');
  await breakDown();
  for (const ref of ['A', 'B', 'C', 'I']) await claim(ref);
  await letTry();

  expect((await claim('I')).kind).toBe('wait');

  const dueNow = await stores.redis.zrangebyscore('{p0}:due:tows', '-inf', (await stores.read('A')).readAtMs);
  expect(['A', 'B', 'C']).toContain(dueNow[0]);
});

test('with nothing but invoice requests waiting, the token call tries', async () => {
  for (const ref of ['A', 'B', 'C']) await towAtInvoice(ref);
  await breakDown();
  for (const ref of ['A', 'B', 'C']) await claim(ref);
  await letTry();

  expect(await claim('A')).toEqual({ kind: 'probe', failedProbes: 0 });
  expect((await claim('B')).kind).toBe('wait');
  await stores.outbox.probed({ service: 'failing', delayMs: 0 });
  await eventually(async () => expect(await claim('B')).toEqual({ kind: 'probe', failedProbes: 1 }));
  await stores.outbox.probed({ service: 'alive', delayMs: 0 });

  expect((await claim('C')).kind).toBe('send');
  expect(await openTasks()).toEqual([]);
});

test('the end of an outage makes everything it held due at once, and closes the task', async () => {
  const held = Array.from({ length: 30 }, (_, index) => `T${index}`);
  await tows('A', 'B', 'C', ...held);
  await breakDown();
  for (const ref of ['A', 'B', 'C', ...held]) await claim(ref);
  await letTry();
  const probe = await mustClaim(stores.outbox, 'A');

  await stores.outbox.ack(probe, alive());

  const nowMs = (await stores.read('A')).readAtMs;
  const due = await stores.redis.zrangebyscore('{p0}:due:tows', '-inf', nowMs);
  expect(due).toEqual(expect.arrayContaining(['B', 'C', ...held]));
  expect(await openTasks()).toEqual([]);
  for (const ref of ['B', 'C', ...held]) expect((await claim(ref)).kind).toBe('send');
});

test('thousands that wait do not all look whenever one may try', async () => {
  const held = Array.from({ length: 40 }, (_, index) => `T${index}`);
  await tows('A', 'B', 'C', ...held);
  await breakDown(2000);
  for (const ref of ['A', 'B', 'C', ...held]) await claim(ref);

  const soonMs = (await stores.read('A')).readAtMs + 5000;
  const lookers = await stores.redis.zcount('{p0}:due:tows', '-inf', soonMs);

  expect(lookers).toBeGreaterThan(0);
  expect(lookers).toBeLessThanOrEqual(10);
});

test('a try whose worker is lost is made again by another tow', async () => {
  await tows('A', 'B', 'C');
  await breakDown();
  for (const ref of ['A', 'B', 'C']) await claim(ref);
  await letTry();
  await mustClaim(stores.outbox, 'A');

  await eventually(async () => expect((await claim('B')).kind).toBe('send'));
});

test('a report is never sent before the moment the service asked for, even when the outage ends sooner', async () => {
  await tows('A', 'B', 'C', 'D');
  for (const ref of ['A', 'B', 'C', 'A']) await fail(ref);
  const asked = { ...failing(), askedMs: LATER_MS, verdict: { ...FAILED, delayMs: LATER_MS } };
  await stores.outbox.ack(await mustClaim(stores.outbox, 'B'), asked);
  await claim('D');
  await letTry();
  await stores.outbox.ack(await mustClaim(stores.outbox, 'D'), alive());

  const wait = await claim('B');
  expect(wait.kind === 'wait' ? wait.untilMs - (await stores.read('B')).readAtMs : 0).toBeGreaterThan(LATER_MS - 5000);
});

test('a lost connection takes the place of an outage: there is one task', async () => {
  await tows('A', 'B', 'C', 'D');
  await breakDown();
  for (const ref of ['A', 'B', 'C', 'D']) await claim(ref);
  await letTry();
  const broken = { next: 'hold', delayMs: 0, because: 'connection' } as const;

  await stores.outbox.ack(await mustClaim(stores.outbox, 'A'), result(broken));

  expect(await openTasks()).toEqual(['connection']);
  const next = await eventually(() => mustClaim(stores.outbox, 'B'));
  await stores.outbox.ack(next, alive());
  expect(await openTasks()).toEqual([]);
  expect((await claim('C')).kind).toBe('send');
});

test('an answer that comes late shows that the service works, all the same', async () => {
  await tows('A', 'B', 'C', 'L');
  const late: Claimed = await mustClaim(stores.outbox, 'L');
  await breakDown();
  await eventually(async () => expect((await claim('L')).kind).toBe('wait'));

  await stores.outbox.ack(late, alive());

  expect(await openTasks()).toEqual([]);
});

test('a tow that a person settled while it was held is no candidate for a try any more', async () => {
  await tows('A', 'B', 'C', 'D');
  await breakDown();
  for (const ref of ['A', 'B', 'C', 'D']) await claim(ref);
  const how = { action: 'waive', reason: 'seen', alsoWaive: [] } as const;
  const waive = { reportId: 'started-1', audit: entryOf('report.waived'), ...how };
  for (const ref of ['B', 'C', 'D']) await stores.tows.decide(await stores.read(ref), waive);
  for (const ref of ['B', 'C', 'D']) expect((await claim(ref)).kind).toBe('idle');
  await letTry();
  await stores.outbox.ack(await mustClaim(stores.outbox, 'A'), failing());
  await letTry();

  expect(await claim('A')).toEqual({ kind: 'probe', failedProbes: 1 });
});
