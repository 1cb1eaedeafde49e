import { systemClock } from '../../src/platform/clock';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { refusedWith } from '../support/exchanges';
import { type TowOutbox, NO_LIMITS } from '../support/outboxes';
import { eventually } from '../support/eventually';
import { GRACE_MS, LEASE_MS, mustClaim, result, START, useStores } from '../support/stores';
import { readEntry, setCircuit } from '../support/stored-records';
import { KEYS } from '../../src/store/keys';

const stores = useStores();

const RETRY = { next: 'retry', delayMs: 0, because: 'failed' } as const;

/** An outbox that gives reports up soon. */
function outboxGivingUpAfter(giveUpAfterMs: number): TowOutbox {
  const settings = { leaseMs: LEASE_MS, graceMs: GRACE_MS, ...NO_LIMITS, giveUpAfterMs };
  return createTowOutbox(stores.redis, systemClock, settings);
}

async function startedTow(ref: string): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, START);
}

/** Claims until the report is given up. */
const untilGivenUp = (outbox: TowOutbox, ref: string) =>
  eventually(async () => {
    const claim = await outbox.claim(ref);
    if (claim.kind === 'send') await outbox.settle(claim, result(RETRY));
    if (claim.kind !== 'escalated') throw new Error(`not given up: ${claim.kind}`);
    return claim;
  });

async function giveUp(outbox: TowOutbox, ref: string): Promise<void> {
  await untilGivenUp(outbox, ref);
}

test('a report that fails for too long is escalated and not sent again', async () => {
  await startedTow('T1');
  const outbox = outboxGivingUpAfter(50);
  await giveUp(outbox, 'T1');

  expect((await outbox.claim('T1')).kind).toBe('needs_action');
  const { tasks, reports } = await stores.read('T1');
  expect(tasks).toMatchObject([{ type: 'report_given_up', actions: ['correct', 'retry', 'waive', 'accept'] }]);
  expect(reports[0]).toMatchObject({ state: 'pending', nextAtMs: null });
  expect(await stores.dueAt('T1')).toBeNull();
});

test('the give-up clock of a report starts at its first failed attempt, not at the fact', async () => {
  await startedTow('T1');
  const outbox = outboxGivingUpAfter(60_000);
  expect((await stores.read('T1')).reports[0]?.giveUpAtMs).toBeNull();
  await outbox.settle(await mustClaim(outbox, 'T1'), result(RETRY));

  const { giveUpAtMs, firstFailedAtMs } = await readEntry(stores.redis, { ref: 'T1' }, 1);
  expect(giveUpAtMs).toBe((firstFailedAtMs ?? 0) + 60_000);
  await outbox.settle(await mustClaim(outbox, 'T1'), result(RETRY));
  expect((await stores.read('T1')).reports[0]?.giveUpAtMs).toBe(giveUpAtMs);
});

test('the give-up clock of a report stops while an outage blocks it', async () => {
  await startedTow('T1');
  const outbox = outboxGivingUpAfter(60_000);
  await outbox.settle(await mustClaim(outbox, 'T1'), result(RETRY));
  const before = (await stores.read('T1')).reports[0]?.giveUpAtMs ?? 0;
  await setCircuit(stores.redis, 'outage', { untilMs: Date.now() + 3_600_000 });
  expect((await outbox.claim('T1')).kind).toBe('wait');
  const heldSinceMs = (await stores.read('T1')).readAtMs;
  await eventually(async () => expect((await stores.read('T1')).readAtMs - heldSinceMs).toBeGreaterThan(100));
  await stores.redis.del(KEYS.circuits);

  await mustClaim(outbox, 'T1');

  expect((await stores.read('T1')).reports[0]?.giveUpAtMs).toBeGreaterThanOrEqual(before + 100);
});

test('a manual retry restarts the give-up clock of a report', async () => {
  await startedTow('T1');
  const outbox = outboxGivingUpAfter(50);
  await giveUp(outbox, 'T1');

  await stores.decide('T1', 'started-1', { action: 'retry' });

  expect((await stores.read('T1')).tasks).toEqual([]);
  const entry = await readEntry(stores.redis, { ref: 'T1' }, 1);
  expect(entry).toMatchObject({ giveUpAtMs: null, firstFailedAtMs: null });
  expect((await outbox.claim('T1')).kind).toBe('send');
});

test('a report is escalated in time although the service asks for an endless wait', async () => {
  await startedTow('T1');
  const outbox = outboxGivingUpAfter(200);
  const year = { next: 'retry', delayMs: 31_536_000_000, because: 'failed' } as const;
  await outbox.settle(
    await mustClaim(outbox, 'T1'),
    result(year, { exchange: refusedWith(503, null, Date.now() + year.delayMs) }),
  );

  expect(await dueInMs('T1')).toBeLessThan(5000);
  expect(await untilGivenUp(outbox, 'T1')).toMatchObject({ why: 'given_up', entry: { attempts: 1 } });
});

test('a throttled report is due again in time to be escalated, although its budget is closed for longer', async () => {
  await startedTow('T1');
  const outbox = outboxGivingUpAfter(200);
  const hour = { next: 'retry', delayMs: 3_600_000, because: 'throttled' } as const;
  await outbox.settle(
    await mustClaim(outbox, 'T1'),
    result(hour, { exchange: refusedWith(429, null, Date.now() + hour.delayMs) }),
  );

  expect(await dueInMs('T1')).toBeLessThan(5000);
});

async function dueInMs(ref: string): Promise<number> {
  return ((await stores.dueAt(ref)) ?? Infinity) - (await stores.read(ref)).readAtMs;
}

test('a manual retry of a given-up report closes its task and sends the report again', async () => {
  await startedTow('T1');
  const outbox = outboxGivingUpAfter(50);
  await untilGivenUp(outbox, 'T1');
  await stores.decide('T1', 'started-1', { action: 'retry' });
  await mustClaim(outbox, 'T1');

  expect((await stores.read('T1')).tasks).toEqual([]);
});
