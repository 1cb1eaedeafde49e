import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import { KEYS } from '../../src/store/keys';
import { systemClock } from '../../src/platform/clock';
import { createViolationOutbox } from '../../src/store/outbox/outbox';
import { refusedWith } from '../support/exchanges';
import type { ViolationOutbox } from '../support/outboxes';
import { eventually } from '../support/eventually';
import { GRACE_MS, LEASE_MS, oddAnswer, useStores } from '../support/stores';
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
import { changeEntry, leaseUntilMs, readEntry } from '../support/stored-records';

let outbox: ViolationOutbox;
const stores = useStores();
beforeEach(() => {
  outbox = openOutbox(stores);
});

const REFUSED = { next: 'refused', hint: null } as const;
const openTasks = async () => (await stores.redis.hkeys(KEYS.tasks)).toSorted();
const read = (id: string) => readViolation(stores, id);

async function dueAt(id: string): Promise<number | null> {
  const score = await stores.redis.zscore(KEYS.dueViolations, id);
  return score === null ? null : Number(score);
}

/** Waits until an attempt of a lost worker is buried. */
const untilUnknown = (id: string) =>
  eventually(async () => {
    await outbox.claim(id);
    expect((await read(id)).state).toBe('unknown');
  });

async function refuse(id: string): Promise<void> {
  const task = refusedTask({ kind: 'violation', id, httpStatus: 400, message: 'Zone not found', hint: null });
  await outbox.settle(await mustClaimViolation(outbox, id), outcome(REFUSED, { exchange: refusedWith(400), task }));
}

describe('claiming and settling of a violation', () => {
  test('only one of twenty workers that claim a violation at the same time may send it, in its current version', async () => {
    await reportViolations(stores, 'U1');

    // The lease outlasts twenty claims on a busy machine.
    const lasting = openOutbox(stores, { leaseMs: 60_000 });
    const claims = await Promise.all(Array.from({ length: 20 }, () => lasting.claim('U1')));

    const [sent, ...more] = claims.filter(({ kind }) => kind === 'send');
    expect(more).toEqual([]);
    expect(sent).toMatchObject({ entry: { revision: 1, attempts: 1, failures: 0, unanswered: 0 } });
    expect(sent).toMatchObject({ record: { violation: (await read('U1')).violation } });
    expect(claims.filter(({ kind }) => kind === 'busy')).toHaveLength(19);
    expect(await dueAt('U1')).toBe(await leaseUntilMs(stores.redis, '{towhook-main}:violation:U1'));
  });

  test('an accepted violation keeps and is found by its reference, and its files and tows are processed once', async () => {
    await reportViolations(stores, 'U1');
    const claimed = await mustClaimViolation(outbox, 'U1');
    const answer = { violation_reference_id: 'V-1', status: 'PENDING' };

    expect((await outbox.settle(claimed, takenAs('V-1', { answer }))).kind).toBe('done');

    const accepted = { state: 'accepted', reference: 'V-1', serviceStatus: 'PENDING', acceptedHow: 'answered', answer };
    expect(await read('U1')).toMatchObject({ ...accepted, canTow: null, attemptId: null, nextAtMs: null });
    expect(await idNamed(stores, 'V-1')).toBe('U1');
    const search = { state: null, search: 'v-1', cursor: null, limit: 5 };
    expect((await stores.violations.list(search)).items).toHaveLength(1);
    const { record } = await claimAs(outbox, 'U1', 'cleanup');
    expect(record.reference).toBe('V-1');
    expect(await dueAt('U1')).not.toBeNull();
    await outbox.completeCleanup(record);
    expect(await outbox.claim('U1')).toEqual({ kind: 'idle' });
    expect(await dueAt('U1')).toBeNull();
  });

  test('an answer of the guide API stores the id and the towing permission of the violation', async () => {
    await report(stores, violationOf('U1', { api: 'guide' }));
    const acceptedViolation = { reference: '4711', serviceStatus: null, canTow: true };

    await outbox.settle(await mustClaimViolation(outbox, 'U1'), takenAs('4711', { acceptedViolation }));

    expect(await read('U1')).toMatchObject({ reference: '4711', canTow: true, serviceStatus: null });
  });

  test('a claim of a violation whose reply was lost is returned again and counts once', async () => {
    await reportViolations(stores, 'U1');
    const fixed = { ...systemClock, id: () => 'the-same-id' };
    const limits = { giveUpAfterMs: 3_600_000, rateLimit: { limit: 2, windowMs: 60_000 }, checksTicket: false };
    const settings = { leaseMs: 5000, graceMs: GRACE_MS, ...limits };
    const repeating = createViolationOutbox(stores.redis, fixed, settings);

    const [first, second] = [await repeating.claim('U1'), await repeating.claim('U1')];

    expect({ ...second, record: null }).toEqual({ ...first, record: null });
    expect(first).toMatchObject({ kind: 'send', entry: { attempts: 1 } });
    expect(await stores.redis.llen('{towhook-main}:budget:violations')).toBe(1);
  });

  test('storing the answer to a violation a second time changes nothing', async () => {
    await reportViolations(stores, 'U1');
    const claimed = await mustClaimViolation(outbox, 'U1');
    await outbox.settle(claimed, takenAs('V-1'));
    const { version: _version, readAtMs: _before, ...before } = await read('U1');

    expect((await outbox.settle(claimed, takenAs('V-1'))).kind).toBe('late');

    const { version: _later, readAtMs: _after, ...after } = await read('U1');
    expect(after).toEqual(before);
  });

  test('an accepted answer to a violation corrected meanwhile accepts it and opens a task, so that there is no second one', async () => {
    await reportViolations(stores, 'U1');
    const lost = await mustClaimViolation(outbox, 'U1');
    await untilUnknown('U1');
    await changeEntry(stores.redis, { violationId: 'U1' }, 1, { revision: 2 });

    expect((await outbox.settle(lost, takenAs('V-1'))).kind).toBe('late_accepted');

    const { state, reference, log } = await read('U1');
    expect([state, reference, log.map(({ outcome: what }) => what)]).toEqual([
      'accepted',
      'V-1',
      ['worker_lost', 'accepted'],
    ]);
    expect(await openTasks()).toEqual(['violation_before_correction.U1']);
  });

  test('a refused violation is escalated with the error message of the service', async () => {
    await reportViolations(stores, 'U1');
    await refuse('U1');

    expect(await read('U1')).toMatchObject({ state: 'refused', nextAtMs: null, attempts: 1 });
    expect(await openTasks()).toEqual(['violation.U1']);
    expect(await outbox.claim('U1')).toEqual({ kind: 'needs_action' });
    expect(await dueAt('U1')).toBeNull();
  });

  test('a violation with a temporary failure is due after its wait, and a broken answer opens a task', async () => {
    await reportViolations(stores, 'U1');
    const retry = { next: 'retry', delayMs: 60_000, because: 'failed' } as const;
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(retry));
    const { nextAtMs } = await read('U1');
    expect(await outbox.claim('U1')).toEqual({ kind: 'wait', untilMs: nextAtMs });

    await changeEntry(stores.redis, { violationId: 'U1' }, 1, { nextAtMs: 1 });
    const again = await mustClaimViolation(outbox, 'U1');
    expect(again).toMatchObject({ entry: { attempts: 2, failures: 1 } });
    const difference = oddAnswer('violation');
    await outbox.settle(again, takenAs('V-1', { rawBody: 'odd', difference }));

    expect(await read('U1')).toMatchObject({ state: 'accepted', rawBody: 'odd' });
    expect(await openTasks()).toEqual([`differs.${difference.id}`]);
  });

  test('a violation whose claim is released is due after its wait, counts no attempt and returns its permit', async () => {
    await reportViolations(stores, 'U1');
    const budgeted = openOutbox(stores, { rateLimit: { limit: 1, windowMs: 60_000 } });
    const claimed = await mustClaimViolation(budgeted, 'U1');

    await budgeted.giveBack(claimed, { kind: 'images_unseen', delayMs: 0 });

    const entry = await readEntry(stores.redis, { violationId: 'U1' }, 1);
    expect(entry).toMatchObject({ state: 'pending', attempts: 0, failures: 0, waitsFor: 'spool', log: [] });
    expect(await mustClaimViolation(budgeted, 'U1')).toMatchObject({ entry: { attempts: 1 } });
    expect((await budgeted.settle(claimed, takenAs('V-1'))).kind).toBe('late');
  });
});

describe('give-up of a violation', () => {
  test('a violation that fails for too long is escalated, also when it is not due', async () => {
    outbox = openOutbox(stores, { giveUpAfterMs: LEASE_MS });
    await reportViolations(stores, 'U1');
    const retry = { next: 'retry', delayMs: 60_000, because: 'failed' } as const;
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(retry));
    expect(await dueAt('U1')).toBeLessThan(Date.now() + 5000);

    const handed = await eventually(() => claimAs(outbox, 'U1', 'escalated'));

    expect(handed).toMatchObject({ why: 'given_up', entry: { attempts: 1 } });
  });

  test('a tow request closes the task of a violation that was given up', async () => {
    outbox = openOutbox(stores, { giveUpAfterMs: 1 });
    await reportViolations(stores, 'U1');
    const failed = { next: 'retry', delayMs: 60_000, because: 'failed' } as const;
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(failed));
    await eventually(() => claimAs(outbox, 'U1', 'escalated'));
    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });

    expect(await openTasks()).toEqual([]);
    expect((await read('U1')).state).toBe('accepted');
  });
});
