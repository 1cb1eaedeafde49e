import { violationContractTask, violationRefusedTask } from '../../src/domain/violation-tasks';
import { KEYS } from '../../src/store/keys';
import { systemClock } from '../../src/platform/clock';
import { createViolationOutbox } from '../../src/store/outbox';
import type { ViolationOutbox } from '../support/outboxes';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { GRACE_MS, LEASE_MS, openStores, type Stores } from '../support/stores';
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
import { changeEntry, leaseUntilMs } from '../support/stored-records';

const redis = useRedis();
let stores: Stores;
let outbox: ViolationOutbox;
beforeEach(async () => {
  stores = await openStores(redis.url);
  outbox = openOutbox(stores);
});
afterEach(() => stores.close());

const REFUSED = { next: 'refused', hint: null } as const;
const openTasks = async () => (await stores.redis.hkeys(KEYS.tasks)).toSorted();
const read = (id: string) => readViolation(stores, id);
const claimsToSend = (id: string) => eventually(() => mustClaimViolation(outbox, id));

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
  const task = violationRefusedTask({ id, httpStatus: 400, words: 'Zone not found', hint: null });
  await outbox.ack(await mustClaimViolation(outbox, id), outcome(REFUSED, { task, hadNoEffect: true }));
}

describe('claim and ack', () => {
  test('of twenty workers that claim at the same time one may send, with the violation as it stands', async () => {
    await reportViolations(stores, 'U1');

    // The lease outlasts twenty claims on a busy machine.
    const lasting = openOutbox(stores, { leaseMs: 60_000 });
    const claims = await Promise.all(Array.from({ length: 20 }, () => lasting.claim('U1')));

    const [sent, ...more] = claims.filter(({ kind }) => kind === 'send');
    expect(more).toEqual([]);
    expect(sent).toMatchObject({ entry: { revision: 1, attempts: 1, failures: 0, unanswered: 0 } });
    expect(sent).toMatchObject({ record: { violation: (await read('U1')).violation } });
    expect(claims.filter(({ kind }) => kind === 'busy')).toHaveLength(19);
    expect(await dueAt('U1')).toBe(await leaseUntilMs(stores.redis, '{p0}:violation:U1'));
  });

  test('what the service calls it is kept and found, and its files and tows are cleared up behind it once', async () => {
    await reportViolations(stores, 'U1');
    const claimed = await mustClaimViolation(outbox, 'U1');
    const answer = { violation_reference_id: 'V-1', status: 'PENDING' };

    expect((await outbox.ack(claimed, takenAs('V-1', { answer }))).kind).toBe('done');

    const accepted = { state: 'accepted', reference: 'V-1', serviceStatus: 'PENDING', acceptedHow: 'answered', answer };
    expect(await read('U1')).toMatchObject({ ...accepted, canTow: null, inFlight: false, nextAttemptAtMs: null });
    expect(await idNamed(stores, 'V-1')).toBe('U1');
    const search = { state: null, search: 'v-1', cursor: null, limit: 5 };
    expect((await stores.violations.list(search)).items).toHaveLength(1);
    const { record } = await claimAs(outbox, 'U1', 'finish');
    expect(record.reference).toBe('V-1');
    expect(await dueAt('U1')).not.toBeNull();
    await outbox.finished(record);
    expect(await outbox.claim('U1')).toEqual({ kind: 'idle' });
    expect(await dueAt('U1')).toBeNull();
  });

  test('of the guide form its id and whether it may be towed are kept', async () => {
    await report(stores, violationOf('U1', { api: 'guide' }));
    const named = { reference: '4711', serviceStatus: null, canTow: true };

    await outbox.ack(await mustClaimViolation(outbox, 'U1'), takenAs('4711', { named }));

    expect(await read('U1')).toMatchObject({ reference: '4711', canTow: true, serviceStatus: null });
  });

  test('a claim whose reply was lost is given again, and counts once', async () => {
    await reportViolations(stores, 'U1');
    const fixed = { ...systemClock, id: () => 'the-same-id' };
    const limits = { giveUpAfterMs: 3_600_000, violationBudget: { limit: 2, windowMs: 60_000 }, checksTicket: false };
    const settings = { leaseMs: 5000, proofMs: GRACE_MS, ...limits };
    const repeating = createViolationOutbox(stores.redis, fixed, settings);

    const [first, second] = [await repeating.claim('U1'), await repeating.claim('U1')];

    expect({ ...second, record: null }).toEqual({ ...first, record: null });
    expect(first).toMatchObject({ kind: 'send', entry: { attempts: 1 } });
    expect(await stores.redis.llen('{p0}:budget:violations')).toBe(1);
  });

  test('an answer that is stored twice changes nothing the second time', async () => {
    await reportViolations(stores, 'U1');
    const claimed = await mustClaimViolation(outbox, 'U1');
    await outbox.ack(claimed, takenAs('V-1'));
    const { version: _version, ...before } = await read('U1');

    expect((await outbox.ack(claimed, takenAs('V-1'))).kind).toBe('late');

    const { version: _later, ...after } = await read('U1');
    expect(after).toEqual(before);
  });

  test('an answer to a form that was corrected meanwhile changes nothing but the attempts', async () => {
    await reportViolations(stores, 'U1');
    const lost = await mustClaimViolation(outbox, 'U1');
    await untilUnknown('U1');
    await changeEntry(stores.redis, { violationId: 'U1' }, 1, { revision: 2 });

    expect((await outbox.ack(lost, takenAs('V-1'))).kind).toBe('late');

    const { state, reference, log } = await read('U1');
    expect([state, reference, log.map(({ outcome: what }) => what)]).toEqual([
      'unknown',
      null,
      ['worker_lost', 'accepted'],
    ]);
  });

  test('refused it waits for a person, with the words of the service', async () => {
    await reportViolations(stores, 'U1');
    await refuse('U1');

    expect(await read('U1')).toMatchObject({ state: 'refused', nextAttemptAtMs: null, attempts: 1 });
    expect(await openTasks()).toEqual(['violation.U1']);
    expect(await outbox.claim('U1')).toEqual({ kind: 'held' });
    expect(await dueAt('U1')).toBeNull();
  });

  test('what may be retried comes up again when its wait is over, and an answer that breaks the contract is a task', async () => {
    await reportViolations(stores, 'U1');
    const retry = { next: 'retry', delayMs: 100, because: 'failed' } as const;
    await outbox.ack(await mustClaimViolation(outbox, 'U1'), outcome(retry));
    const { nextAttemptAtMs } = await read('U1');
    expect(await outbox.claim('U1')).toEqual({ kind: 'wait', untilMs: nextAttemptAtMs });

    const again = await claimsToSend('U1');
    expect(again).toMatchObject({ entry: { attempts: 2, failures: 1 } });
    const task = violationContractTask({ id: 'U1', httpStatus: 200 });
    await outbox.ack(again, takenAs('V-1', { rawBody: 'odd', task }));

    expect(await read('U1')).toMatchObject({ state: 'accepted', brokenAnswer: 'odd' });
    expect(await openTasks()).toEqual(['violation_contract.U1']);
  });

  test('given back it is due after its wait: no attempt is counted, and its slot of the budget is free', async () => {
    await reportViolations(stores, 'U1');
    const budgeted = openOutbox(stores, { violationBudget: { limit: 1, windowMs: 60_000 } });
    const claimed = await mustClaimViolation(budgeted, 'U1');

    await budgeted.giveBack(claimed, { kind: 'images_unseen', delayMs: 0 });

    expect(await read('U1')).toMatchObject({ state: 'pending', attempts: 0, failures: 0, waitsFor: 'spool', log: [] });
    expect(await mustClaimViolation(budgeted, 'U1')).toMatchObject({ entry: { attempts: 1 } });
    expect((await budgeted.ack(claimed, takenAs('V-1'))).kind).toBe('late');
  });
});

describe('giving up', () => {
  test('what has kept failing for too long is handed to a person, also when it is not due', async () => {
    outbox = openOutbox(stores, { giveUpAfterMs: LEASE_MS });
    await reportViolations(stores, 'U1');
    const retry = { next: 'retry', delayMs: 60_000, because: 'failed' } as const;
    await outbox.ack(await mustClaimViolation(outbox, 'U1'), outcome(retry));
    expect(await dueAt('U1')).toBeLessThan(Date.now() + 5000);

    const handed = await eventually(() => claimAs(outbox, 'U1', 'escalated'));

    expect(handed).toMatchObject({ why: 'given_up', entry: { attempts: 1 } });
  });

  test('a tow request closes the task of a violation that was given up', async () => {
    outbox = openOutbox(stores, { giveUpAfterMs: 1 });
    await reportViolations(stores, 'U1');
    const failed = { next: 'retry', delayMs: 60_000, because: 'failed' } as const;
    await outbox.ack(await mustClaimViolation(outbox, 'U1'), outcome(failed));
    await eventually(() => claimAs(outbox, 'U1', 'escalated'));
    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });

    expect(await openTasks()).toEqual([]);
    expect((await read('U1')).state).toBe('accepted');
  });
});
