import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import { KEYS } from '../../src/store/keys';
import { NOT_SENT } from '../support/exchanges';
import type { ViolationOutbox } from '../support/outboxes';
import type { RecordStore } from '../../src/workflow/transaction-port';
import { eventually } from '../support/eventually';
import { useStores, towRequest, UNKNOWN } from '../support/stores';
import {
  claimAs,
  idNamed,
  join,
  mustClaimViolation,
  openOutbox,
  outcome,
  readViolation,
  report,
  reportViolations,
  takenAs,
  violationOf,
} from '../support/violations';
import { changeEntry } from '../support/stored-records';

let outbox: ViolationOutbox;
const stores = useStores();
beforeEach(() => {
  outbox = openOutbox(stores);
});

const REFUSED = { next: 'refused', hint: null } as const;
const openTasks = () => stores.redis.hkeys(KEYS.tasks);
const read = (id: string) => readViolation(stores, id);

/** Waits until an attempt of a lost worker is buried. */
const untilUnknown = (id: string) =>
  eventually(async () => {
    await outbox.claim(id);
    expect((await read(id)).state).toBe('unknown');
  });

describe('violation with a lost answer', () => {
  test('a violation whose worker was lost becomes unknown, is not sent again automatically, and is escalated after its wait', async () => {
    outbox = openOutbox(stores, { graceMs: 60_000 });
    await reportViolations(stores, 'U1');
    await mustClaimViolation(outbox, 'U1');
    await untilUnknown('U1');
    expect(await outbox.claim('U1')).toMatchObject({ kind: 'wait' });

    await changeEntry(stores.redis, { violationId: 'U1' }, 1, { nextAtMs: 1 });
    const handed = await claimAs(outbox, 'U1', 'escalated');
    expect(handed).toMatchObject({ why: 'unknown', entry: { attempts: 1 } });

    expect(await openTasks()).toEqual(['violation.U1']);
    expect(await outbox.claim('U1')).toEqual({ kind: 'needs_action' });
    expect(await stores.redis.zscore(KEYS.dueViolations, 'U1')).toBeNull();
  });

  test('a violation with a lost answer waits for its proof beyond the time after which it would be given up', async () => {
    outbox = openOutbox(stores, { giveUpAfterMs: 0 });
    await reportViolations(stores, 'U1');
    const waiting = outcome({ ...UNKNOWN, delayMs: 3_600_000 });

    await outbox.settle(await mustClaimViolation(outbox, 'U1'), waiting);

    const { nextAtMs } = await read('U1');
    expect(await outbox.claim('U1')).toMatchObject({ kind: 'wait', untilMs: nextAtMs });
    expect(Number(await stores.redis.zscore(KEYS.dueViolations, 'U1'))).toBe(nextAtMs);
    expect(await openTasks()).toEqual([]);
    await changeEntry(stores.redis, { violationId: 'U1' }, 1, { nextAtMs: 1 });
    await claimAs(outbox, 'U1', 'escalated');
  });

  test('a violation without metadata whose answer was lost is escalated at once', async () => {
    outbox = openOutbox(stores, { graceMs: 3_600_000 });
    await report(stores, violationOf('U1', { api: 'guide' }));
    await mustClaimViolation(outbox, 'U1');

    await eventually(() => claimAs(outbox, 'U1', 'escalated'));
  });

  test('a tow request with the metadata id of a violation with a lost answer proves it, closes its task and adds its reference', async () => {
    await reportViolations(stores, 'U1');
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(UNKNOWN));
    await eventually(() => claimAs(outbox, 'U1', 'escalated'));

    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });

    const proved = { state: 'accepted', acceptedHow: 'proved_by_tow_request', reference: 'V-1' };
    expect(await read('U1')).toMatchObject({ ...proved, tows: ['TW-1'] });
    expect(await openTasks()).toEqual([]);
    expect(await idNamed(stores, 'V-1')).toBe('U1');
    expect((await outbox.claim('U1')).kind).toBe('cleanup');
  });

  test('a late answer settles a violation of unknown outcome, also after a manual retry', async () => {
    for (const id of ['U1', 'U2']) {
      await reportViolations(stores, id);
      const lost = await mustClaimViolation(outbox, id);
      await untilUnknown(id);
      if (id === 'U2') await changeEntry(stores.redis, { violationId: 'U2' }, 1, { state: 'pending', forgiven: 1 });

      expect((await outbox.settle(lost, takenAs(`V-${id}`))).kind).toBe('late_accepted');

      expect(await read(id)).toMatchObject({ state: 'accepted', acceptedHow: 'late_answer', reference: `V-${id}` });
    }
  });

  test('a late answer to a violation that arrives after a second call started settles nothing', async () => {
    await reportViolations(stores, 'U1');
    const lost = await mustClaimViolation(outbox, 'U1');
    await untilUnknown('U1');
    await changeEntry(stores.redis, { violationId: 'U1' }, 1, { state: 'pending', forgiven: 1, nextAtMs: 1 });
    await mustClaimViolation(outbox, 'U1');

    expect((await outbox.settle(lost, takenAs('V-1'))).kind).toBe('late');
    expect((await read('U1')).state).toBe('sending');
  });
});

test('a violation that gets its reference while a tow with that reference is created is matched to the tow', async () => {
  await report(stores, violationOf('U1', { api: 'guide' }));
  const claimed = await mustClaimViolation(outbox, 'U1');
  await stores.accept('tow_request', towRequest('T1'), 'request-T1');
  let decisions = 0;
  const records: RecordStore = {
    isUnwritten: (error) => stores.records.isUnwritten(error),
    transact: (line, decide) =>
      stores.records.transact(line, async (transaction) => {
        const decided = await decide(transaction);
        decisions += 1;
        if (decisions === 1) await outbox.settle(claimed, takenAs('V-T1'));
        return decided;
      }),
  };

  expect(await stores.process('request-T1', { records })).toBe('created');

  expect(decisions).toBe(2);
  expect((await stores.read('T1')).tow.violationId).toBe('U1');
  expect((await read('U1')).tows).toEqual(['T1']);
});

describe('tow request for a violation', () => {
  test('a tow request proves a violation in flight, whose answer is stored before any cleanup', async () => {
    outbox = openOutbox(stores, { leaseMs: 60_000 });
    await reportViolations(stores, 'U1');
    const claimed = await mustClaimViolation(outbox, 'U1');

    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });

    expect((await read('U1')).state).toBe('accepted');
    expect((await outbox.claim('U1')).kind).toBe('busy');
    expect((await outbox.settle(claimed, takenAs('V-1', { answer: { status: 'PENDING' } }))).kind).toBe('done');
    const kept = { state: 'accepted', acceptedHow: 'proved_by_tow_request', serviceStatus: 'PENDING', attemptId: null };
    expect(await read('U1')).toMatchObject({ ...kept, answer: { status: 'PENDING' } });
    expect((await outbox.claim('U1')).kind).toBe('cleanup');
  });

  test.each([
    ['refused', REFUSED],
    ['unanswered', UNKNOWN],
  ])('a tow request that proved a violation prevents a task when the call is %s afterwards', async (_what, verdict) => {
    await reportViolations(stores, 'U1');
    const claimed = await mustClaimViolation(outbox, 'U1');
    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });
    const task = refusedTask({ kind: 'violation', id: 'U1', httpStatus: 400, message: 'twice', hint: null });

    await outbox.settle(claimed, outcome(verdict, { task }));

    expect((await read('U1')).state).toBe('accepted');
    expect(await openTasks()).toEqual([]);
  });

  test('a violation stays proved by a tow request although its worker is lost afterwards', async () => {
    await reportViolations(stores, 'U1');
    await mustClaimViolation(outbox, 'U1');
    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });

    await eventually(() => claimAs(outbox, 'U1', 'cleanup'));

    expect(await read('U1')).toMatchObject({ state: 'accepted', attemptId: null });
  });

  test('a tow request for a violation that surely was not sent is recorded and proves nothing', async () => {
    await reportViolations(stores, 'U1');
    const notSent = { next: 'retry', delayMs: 0, because: 'surely_not_sent' } as const;
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(notSent, { exchange: NOT_SENT }));

    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });

    expect(await read('U1')).toMatchObject({ state: 'pending', tows: ['TW-1'], reference: 'V-1' });
    expect((await outbox.claim('U1')).kind).toBe('send');
  });

  test('a tow request proves a violation whose failed call may have taken effect before it is sent again', async () => {
    await reportViolations(stores, 'U1');
    const failed = { next: 'retry', delayMs: 0, because: 'failed' } as const;
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(failed));

    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });

    expect((await read('U1')).state).toBe('accepted');
  });

  test('a repeated tow request for a violation is recorded once, and another one is recorded too', async () => {
    await reportViolations(stores, 'U1');
    for (const towingReference of ['TW-1', 'TW-1', 'TW-2']) {
      await join(stores, 'U1', { towingReference, reference: 'V-1' });
    }

    expect(await read('U1')).toMatchObject({ tows: ['TW-1', 'TW-2'], version: 3 });
  });

  test('a tow request with a second reference of a settled violation also matches the tows of that reference', async () => {
    await reportViolations(stores, 'U1');
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), takenAs('V-1'));
    const { record } = await claimAs(outbox, 'U1', 'cleanup');
    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-other' });
    await outbox.completeCleanup(record);

    expect((await outbox.claim('U1')).kind).toBe('cleanup');
    expect(await idNamed(stores, 'V-other')).toBe('U1');
    expect((await read('U1')).reference).toBe('V-1');
  });

  test('a tow request that matches a violation during its cleanup does not restart the cleanup', async () => {
    await reportViolations(stores, 'U1');
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), takenAs('V-1'));
    const { record } = await claimAs(outbox, 'U1', 'cleanup');
    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });
    await outbox.completeCleanup(record);

    expect((await outbox.claim('U1')).kind).toBe('idle');
  });
});
