import { violationRefusedTask } from '../../src/domain/violation-tasks';
import { KEYS } from '../../src/store/keys';
import { createSendingStore } from '../../src/store/sending';
import type { ViolationOutbox } from '../support/outboxes';
import { useRedis } from '../support/redis';
import { ACCEPTED, mustClaim, openStores, result, START, type Stores } from '../support/stores';
import {
  claimAs,
  decide,
  mustClaimViolation,
  openOutbox,
  outcome,
  readViolation,
  reportViolations,
  takenAs,
} from '../support/violations';
import { changeEntry, letTry, readEntry, setCircuit } from '../support/stored-records';
import { type CircuitName } from '../../src/domain/circuits';

const redis = useRedis();
let stores: Stores;
let outbox: ViolationOutbox;
beforeEach(async () => {
  stores = await openStores(redis.url);
  outbox = openOutbox(stores, { leaseMs: 5000 });
});
afterEach(() => stores.close());

const FAILED = { next: 'retry', delayMs: 0, because: 'failed' } as const;
const BROKEN = { next: 'hold', delayMs: 60_000, because: 'connection' } as const;
const BUDGETS = { auth: 0, site: 0, violations: 0, tickets: 0, tow: 0 };
const sending = () => createSendingStore(stores.redis, BUDGETS);
const failing = { service: 'failing', wasAnswered: true, outageDelayMs: 60_000 } as const;
const openTasks = async () => (await stores.redis.hkeys(KEYS.tasks)).toSorted();
const mayTry = (name: CircuitName) => letTry(stores.redis, name);

async function tow(ref: string): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, START);
}

/** Violations that are due right now. */
async function dueNow(): Promise<string[]> {
  const [seconds] = await stores.redis.time();
  return (await stores.redis.zrangebyscore(KEYS.dueViolations, '-inf', (Number(seconds) + 1) * 1000)).toSorted();
}

async function forbid(id: string): Promise<void> {
  const task = violationRefusedTask({ id, httpStatus: 403, words: 'Access denied', hint: null });
  const also = { task, isForbidden: true, hadNoEffect: true, wasAnswered: true, service: 'alive' } as const;
  await outbox.ack(await mustClaimViolation(outbox, id), outcome({ next: 'refused', hint: null }, also));
}

/** The service goes down under three violations. */
async function breakDown(): Promise<void> {
  await reportViolations(stores, 'U1', 'U2', 'U3');
  for (const id of ['U1', 'U2', 'U3']) await outbox.ack(await mustClaimViolation(outbox, id), outcome(FAILED, failing));
  for (const id of ['U1', 'U2']) {
    await changeEntry(stores.redis, { violationId: id }, 1, { nextAtMs: 1 });
    await outbox.ack(await mustClaimViolation(outbox, id), outcome(FAILED, failing));
  }
}

describe('a broken connection', () => {
  test('that a violation meets holds tows and violations alike, and one of either may try it', async () => {
    await reportViolations(stores, 'U1', 'U2');
    await tow('T1');
    await outbox.ack(await mustClaimViolation(outbox, 'U1'), outcome(BROKEN, { hadNoEffect: true }));
    expect(await openTasks()).toEqual(['connection']);
    expect((await stores.outbox.claim('T1')).kind).toBe('wait');
    expect((await outbox.claim('U2')).kind).toBe('wait');
    expect(await readViolation(stores, 'U2')).toMatchObject({ waitsFor: 'connection', attempts: 0, state: 'pending' });
    expect((await sending().read()).held).toBe(3);

    await mayTry('connection');
    const probe = await mustClaimViolation(outbox, 'U2');
    expect((await stores.outbox.claim('T1')).kind).toBe('wait');
    await outbox.ack(probe, takenAs('V-2'));

    expect(await openTasks()).toEqual([]);
    expect((await stores.outbox.claim('T1')).kind).toBe('send');
  });

  test('that a tow gets through wakes the violations it held at once', async () => {
    await reportViolations(stores, 'U1', 'U2');
    await tow('T1');
    await stores.outbox.ack(await mustClaim(stores.outbox, 'T1'), result(BROKEN));
    for (const id of ['U1', 'U2']) expect((await outbox.claim(id)).kind).toBe('wait');
    expect(await dueNow()).toEqual([]);
    await changeEntry(stores.redis, { ref: 'T1' }, 1, { nextAtMs: 1 });
    await mayTry('connection');

    await stores.outbox.ack(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));

    expect(await dueNow()).toEqual(['U1', 'U2']);
    for (const id of ['U1', 'U2']) await mustClaimViolation(outbox, id);
  });

  test('is no failure of a violation: no attempt is counted, and its clock of giving up does not run', async () => {
    await reportViolations(stores, 'U1');
    await outbox.ack(await mustClaimViolation(outbox, 'U1'), outcome(BROKEN, { hadNoEffect: true }));

    expect(await readViolation(stores, 'U1')).toMatchObject({ attempts: 0, failures: 0, giveUpAtMs: null, log: [] });
  });
});

describe('an outage', () => {
  test('that violations alone have met is tried by the token call, never by a violation', async () => {
    await breakDown();
    expect(await openTasks()).toEqual(['outage']);
    for (const id of ['U1', 'U2', 'U3']) expect((await outbox.claim(id)).kind).toBe('wait');
    await mayTry('outage');

    expect(await outbox.claim('U3')).toEqual({ kind: 'probe', failedProbes: 0 });
    expect((await outbox.claim('U2')).kind).toBe('wait');
    await stores.outbox.probed({ service: 'alive', delayMs: 0 });

    expect(await openTasks()).toEqual([]);
    expect(await dueNow()).toEqual(['U1', 'U2', 'U3']);
  });

  test('is tried by a tow that is safe to repeat, which a waiting violation makes due', async () => {
    await breakDown();
    await tow('T1');
    for (const id of ['U1', 'U2', 'U3']) await outbox.claim(id);
    expect((await stores.outbox.claim('T1')).kind).toBe('wait');
    expect(await stores.redis.smembers('{p0}:probes:outage')).toEqual(['T1']);
    await mayTry('outage');

    expect((await outbox.claim('U1')).kind).toBe('wait');
    const dueAt = Number(await stores.redis.zscore(KEYS.dueTows, 'T1'));
    expect(dueAt).toBeLessThanOrEqual((await stores.read('T1')).readAtMs);
    await stores.outbox.ack(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));

    expect(await dueNow()).toEqual(['U1', 'U2', 'U3']);
  });

  test('does not run the clock of giving up: the time it was held is added', async () => {
    await breakDown();
    await outbox.claim('U3');
    const before = (await readViolation(stores, 'U3')).giveUpAtMs ?? 0;
    const { blockedSinceMs } = await readEntry(stores.redis, { violationId: 'U3' }, 1);
    await changeEntry(stores.redis, { violationId: 'U3' }, 1, { blockedSinceMs: (blockedSinceMs ?? 0) - 500_000 });
    await stores.outbox.probed({ service: 'alive', delayMs: 0 });
    await changeEntry(stores.redis, { violationId: 'U3' }, 1, { nextAtMs: 1 });

    await mustClaimViolation(outbox, 'U3');

    expect((await readViolation(stores, 'U3')).giveUpAtMs).toBeGreaterThanOrEqual(before + 500_000);
  });
});

describe('403', () => {
  test('on a third violation pauses them all: one task, those that were refused are taken back, tows go on', async () => {
    await reportViolations(stores, 'U1', 'U2', 'U3', 'U4');
    await tow('T1');
    await forbid('U1');
    await forbid('U2');
    expect(await openTasks()).toEqual(['violation.U1', 'violation.U2']);
    await forbid('U3');

    expect(await dueNow()).toEqual(expect.arrayContaining(['U1', 'U2']));
    for (const id of ['U1', 'U2', 'U3', 'U4']) expect((await outbox.claim(id)).kind).toBe('wait');
    expect(await openTasks()).toEqual(['paused.violation']);
    expect((await stores.outbox.claim('T1')).kind).toBe('send');
    const paused = (await sending().read()).operations.filter(({ state }) => state === 'paused');
    expect(paused.map(({ operation }) => operation)).toEqual(['violation']);
  });

  test('once a person resumes them, or one that tries gets through, all are due at once', async () => {
    const ids = ['U1', 'U2', 'U3', 'U4'];
    await reportViolations(stores, ...ids);
    for (const id of ['U1', 'U2', 'U3']) await forbid(id);
    for (const id of ids) await outbox.claim(id);

    expect(await stores.resume('violation')).toBe('done');
    expect(await dueNow()).toEqual(ids);

    for (const id of ['U1', 'U2', 'U3']) await forbid(id);
    for (const id of ids) await outbox.claim(id);
    await mayTry('paused.violation');
    const probe = await mustClaimViolation(outbox, 'U4');
    expect((await outbox.claim('U1')).kind).toBe('wait');
    await outbox.ack(probe, takenAs('V-4', { service: 'alive' }));

    expect(await openTasks()).toEqual([]);
    for (const id of ['U1', 'U2', 'U3']) await mustClaimViolation(outbox, id);
  });
});

test('many violations that wait for a gate do not all look again when it may be tried', async () => {
  const ids = Array.from({ length: 30 }, (_, index) => `U${index}`);
  await reportViolations(stores, ...ids);
  await setCircuit(stores.redis, 'paused.violation', { untilMs: Date.now() + 10_000 });
  for (const id of ids) expect((await outbox.claim(id)).kind).toBe('wait');

  const soon = await stores.redis.zcount(KEYS.dueViolations, '-inf', Date.now() + 20_000);

  expect(soon).toBeGreaterThan(0);
  expect(soon).toBeLessThanOrEqual(5);
});

test('a violation that is settled while a gate holds it is held no longer', async () => {
  await reportViolations(stores, 'U1');
  await setCircuit(stores.redis, 'paused.violation', { untilMs: Date.now() + 10_000 });
  await outbox.claim('U1');
  await decide(stores, 'U1', { action: 'waive', reason: 'no' });

  expect((await sending().read()).held).toBe(0);
  await claimAs(outbox, 'U1', 'finish');
});
