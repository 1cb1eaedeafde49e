import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import type { CircuitName } from '../../src/domain/vocabulary';
import { KEYS } from '../../src/store/keys';
import { createSendingStore } from '../../src/store/service/sending';
import { NO_TOKEN, FAILING, FORBIDDEN } from '../support/exchanges';
import type { ViolationOutbox } from '../support/outboxes';
import { ACCEPTED, mustClaim, useStores, result, START } from '../support/stores';
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
import { reportProbe } from '../../src/workflow/outbox/prove-connection';

let outbox: ViolationOutbox;
const stores = useStores();
beforeEach(() => {
  outbox = openOutbox(stores, { leaseMs: 5000 });
});

const FAILED = { next: 'retry', delayMs: 0, because: 'failed' } as const;
const BROKEN = { next: 'hold', delayMs: 60_000, because: 'connection' } as const;
const BUDGETS = { auth: 0, site: 0, violations: 0, tickets: 0, tow: 0 };
const sending = () => createSendingStore(stores.redis, BUDGETS);
const failing = { exchange: FAILING, outageDelayMs: 60_000 } as const;
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
  const task = refusedTask({ kind: 'violation', id, httpStatus: 403, message: 'Access denied', hint: null });
  const refused = outcome({ next: 'refused', hint: null }, { exchange: FORBIDDEN, task });
  await outbox.settle(await mustClaimViolation(outbox, id), refused);
}

/** The service goes down under three violations. */
async function breakDown(): Promise<void> {
  await reportViolations(stores, 'U1', 'U2', 'U3');
  for (const id of ['U1', 'U2', 'U3'])
    await outbox.settle(await mustClaimViolation(outbox, id), outcome(FAILED, failing));
  for (const id of ['U1', 'U2']) {
    await changeEntry(stores.redis, { violationId: id }, 1, { nextAtMs: 1 });
    await outbox.settle(await mustClaimViolation(outbox, id), outcome(FAILED, failing));
  }
}

describe('connection circuit with violations', () => {
  test('a connection failure of a violation blocks tows and violations, and either kind may probe the connection', async () => {
    await reportViolations(stores, 'U1', 'U2');
    await tow('T1');
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(BROKEN, { exchange: NO_TOKEN }));
    expect(await openTasks()).toEqual(['connection']);
    expect((await stores.generalTasks())[0]?.message).toContain('first met by the violation U1)');
    expect((await stores.outbox.claim('T1')).kind).toBe('wait');
    expect((await outbox.claim('U2')).kind).toBe('wait');
    expect(await readViolation(stores, 'U2')).toMatchObject({ waitsFor: 'connection', attempts: 0, state: 'pending' });
    expect((await sending().read()).held).toBe(3);

    await mayTry('connection');
    const probe = await mustClaimViolation(outbox, 'U2');
    expect((await stores.outbox.claim('T1')).kind).toBe('wait');
    await outbox.settle(probe, takenAs('V-2'));

    expect(await openTasks()).toEqual([]);
    expect((await stores.outbox.claim('T1')).kind).toBe('send');
  });

  test('a tow that probes a broken connection successfully makes the blocked violations due at once', async () => {
    await reportViolations(stores, 'U1', 'U2');
    await tow('T1');
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(BROKEN));
    for (const id of ['U1', 'U2']) expect((await outbox.claim(id)).kind).toBe('wait');
    expect(await dueNow()).toEqual([]);
    await changeEntry(stores.redis, { ref: 'T1' }, 1, { nextAtMs: 1 });
    await mayTry('connection');

    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));

    expect(await dueNow()).toEqual(['U1', 'U2']);
    for (const id of ['U1', 'U2']) await mustClaimViolation(outbox, id);
  });

  test('a broken connection counts no attempt of a violation and stops its give-up clock', async () => {
    await reportViolations(stores, 'U1');
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(BROKEN, { exchange: NO_TOKEN }));

    const entry = await readEntry(stores.redis, { violationId: 'U1' }, 1);
    expect(entry).toMatchObject({ attempts: 0, failures: 0, giveUpAtMs: null, log: [] });
  });
});

describe('service circuit with violations', () => {
  test('the token call probes an outage that only violations have met, and no violation probes it', async () => {
    await breakDown();
    expect(await openTasks()).toEqual(['outage']);
    for (const id of ['U1', 'U2', 'U3']) expect((await outbox.claim(id)).kind).toBe('wait');
    await mayTry('outage');

    expect(await outbox.claim('U3')).toEqual({ kind: 'probe', failedProbes: 0 });
    expect((await outbox.claim('U2')).kind).toBe('wait');
    await reportProbe(stores.records, { service: 'alive', delayMs: 0 });

    expect(await openTasks()).toEqual([]);
    expect(await dueNow()).toEqual(['U1', 'U2', 'U3']);
  });

  test('a waiting violation makes a tow with an idempotent report due, which probes the outage', async () => {
    await breakDown();
    await tow('T1');
    for (const id of ['U1', 'U2', 'U3']) await outbox.claim(id);
    expect((await stores.outbox.claim('T1')).kind).toBe('wait');
    expect(await stores.redis.smembers('{towhook-main}:probes:outage')).toEqual(['T1']);
    await mayTry('outage');

    expect((await outbox.claim('U1')).kind).toBe('wait');
    const dueAt = Number(await stores.redis.zscore(KEYS.dueTows, 'T1'));
    expect(dueAt).toBeLessThanOrEqual((await stores.read('T1')).readAtMs);
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));

    expect(await dueNow()).toEqual(['U1', 'U2', 'U3']);
  });

  test('an outage stops the give-up clock of a violation for as long as it blocks the violation', async () => {
    await breakDown();
    await outbox.claim('U3');
    const before = (await readViolation(stores, 'U3')).giveUpAtMs ?? 0;
    const { blockedSinceMs } = await readEntry(stores.redis, { violationId: 'U3' }, 1);
    await changeEntry(stores.redis, { violationId: 'U3' }, 1, { blockedSinceMs: (blockedSinceMs ?? 0) - 500_000 });
    await reportProbe(stores.records, { service: 'alive', delayMs: 0 });
    await changeEntry(stores.redis, { violationId: 'U3' }, 1, { nextAtMs: 1 });

    await mustClaimViolation(outbox, 'U3');

    expect((await readViolation(stores, 'U3')).giveUpAtMs).toBeGreaterThanOrEqual(before + 500_000);
  });
});

describe('paused violations', () => {
  test('a 403 on a third violation pauses violations, opens one task and blocks the refused ones, while tows continue', async () => {
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

  test('all paused violations are due at once after a person resumes them or a probe succeeds', async () => {
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
    await outbox.settle(probe, takenAs('V-4'));

    expect(await openTasks()).toEqual([]);
    for (const id of ['U1', 'U2', 'U3']) await mustClaimViolation(outbox, id);
  });
});

test('only a few of many violations blocked by a circuit become due when it may be probed', async () => {
  const ids = Array.from({ length: 30 }, (_, index) => `U${index}`);
  await reportViolations(stores, ...ids);
  await setCircuit(stores.redis, 'paused.violation', { untilMs: Date.now() + 10_000 });
  for (const id of ids) expect((await outbox.claim(id)).kind).toBe('wait');

  const soon = await stores.redis.zcount(KEYS.dueViolations, '-inf', Date.now() + 20_000);

  expect(soon).toBeGreaterThan(0);
  expect(soon).toBeLessThanOrEqual(5);
});

test('a violation that is settled while a circuit blocks it is no longer counted as blocked', async () => {
  await reportViolations(stores, 'U1');
  await setCircuit(stores.redis, 'paused.violation', { untilMs: Date.now() + 10_000 });
  await outbox.claim('U1');
  await decide(stores, 'U1', { action: 'waive', reason: 'no' });

  expect((await sending().read()).held).toBe(0);
  await claimAs(outbox, 'U1', 'cleanup');
});
