import { violationRefusedTask } from '../../src/domain/violation-tasks';
import { KEYS } from '../../src/store/keys';
import type { ViolationOutbox } from '../support/outboxes';
import type { RecordStore } from '../../src/workflow/transaction-port';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { openStores, towRequest, UNKNOWN, type Stores } from '../support/stores';
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

const redis = useRedis();
let stores: Stores;
let outbox: ViolationOutbox;
beforeEach(async () => {
  stores = await openStores(redis.url);
  outbox = openOutbox(stores);
});
afterEach(() => stores.close());

const REFUSED = { next: 'refused', hint: null } as const;
const openTasks = () => stores.redis.hkeys(KEYS.tasks);
const read = (id: string) => readViolation(stores, id);

/** Waits until an attempt of a lost worker is buried. */
const untilUnknown = (id: string) =>
  eventually(async () => {
    await outbox.claim(id);
    expect((await read(id)).state).toBe('unknown');
  });

describe('a lost answer', () => {
  test('of a worker that was lost leaves it unknown, never sent again by itself, and after its time a person decides', async () => {
    await reportViolations(stores, 'U1');
    await mustClaimViolation(outbox, 'U1');
    await untilUnknown('U1');
    expect(await outbox.claim('U1')).toMatchObject({ kind: 'wait' });

    const handed = await eventually(() => claimAs(outbox, 'U1', 'escalated'));
    expect(handed).toMatchObject({ why: 'unknown', entry: { attempts: 1 } });

    expect(await openTasks()).toEqual(['violation.U1']);
    expect(await outbox.claim('U1')).toEqual({ kind: 'held' });
    expect(await stores.redis.zscore(KEYS.dueViolations, 'U1')).toBeNull();
  });

  test('without metadata is handed over at once', async () => {
    outbox = openOutbox(stores, { proofMs: 3_600_000 });
    await report(stores, violationOf('U1', { api: 'guide' }));
    await mustClaimViolation(outbox, 'U1');

    await eventually(() => claimAs(outbox, 'U1', 'escalated'));
  });

  test('is proved by the tow request that names its id: it is accepted, its task is closed, and it is found by its name', async () => {
    await reportViolations(stores, 'U1');
    await outbox.ack(await mustClaimViolation(outbox, 'U1'), outcome(UNKNOWN));
    await eventually(() => claimAs(outbox, 'U1', 'escalated'));

    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });

    const proved = { state: 'accepted', acceptedHow: 'proved_by_tow_request', reference: 'V-1' };
    expect(await read('U1')).toMatchObject({ ...proved, towingReferenceIds: ['TW-1'] });
    expect(await openTasks()).toEqual([]);
    expect(await idNamed(stores, 'V-1')).toBe('U1');
    expect((await outbox.claim('U1')).kind).toBe('finish');
  });

  test('that comes after all settles what is unknown, also once a person said to send it again', async () => {
    for (const id of ['U1', 'U2']) {
      await reportViolations(stores, id);
      const lost = await mustClaimViolation(outbox, id);
      await untilUnknown(id);
      if (id === 'U2') await changeEntry(stores.redis, { violationId: 'U2' }, 1, { state: 'pending', forgiven: 1 });

      expect((await outbox.ack(lost, takenAs(`V-${id}`))).kind).toBe('late_accepted');

      expect(await read(id)).toMatchObject({ state: 'accepted', acceptedHow: 'late_answer', reference: `V-${id}` });
    }
  });

  test('that comes after a second call left settles nothing', async () => {
    await reportViolations(stores, 'U1');
    const lost = await mustClaimViolation(outbox, 'U1');
    await untilUnknown('U1');
    await changeEntry(stores.redis, { violationId: 'U1' }, 1, { state: 'pending', forgiven: 1, nextAtMs: 1 });
    await mustClaimViolation(outbox, 'U1');

    expect((await outbox.ack(lost, takenAs('V-1'))).kind).toBe('late');
    expect((await read('U1')).state).toBe('sending');
  });
});

test('a tow that is made while its violation gets its name looks for it again: neither misses the other', async () => {
  await report(stores, violationOf('U1', { api: 'guide' }));
  const claimed = await mustClaimViolation(outbox, 'U1');
  await stores.accept('tow_request', towRequest('T1'), 'request-T1');
  let decisions = 0;
  const records: RecordStore = {
    transact: (line, decide) =>
      stores.records.transact(line, async (transaction) => {
        const decided = await decide(transaction);
        decisions += 1;
        if (decisions === 1) await outbox.ack(claimed, takenAs('V-T1'));
        return decided;
      }),
  };

  expect(await stores.process('request-T1', { records })).toBe('created');

  expect(decisions).toBe(2);
  expect((await stores.read('T1')).tow.violationId).toBe('U1');
  expect((await read('U1')).towingReferenceIds).toEqual(['T1']);
});

describe('a tow request', () => {
  test('proves a violation whose call is under way; its answer is kept, and nothing is cleared up before it came', async () => {
    await reportViolations(stores, 'U1');
    const claimed = await mustClaimViolation(outbox, 'U1');

    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });

    expect((await read('U1')).state).toBe('accepted');
    expect((await outbox.claim('U1')).kind).toBe('busy');
    expect((await outbox.ack(claimed, takenAs('V-1', { answer: { status: 'PENDING' } }))).kind).toBe('done');
    const kept = { state: 'accepted', acceptedHow: 'proved_by_tow_request', serviceStatus: 'PENDING', inFlight: false };
    expect(await read('U1')).toMatchObject({ ...kept, answer: { status: 'PENDING' } });
    expect((await outbox.claim('U1')).kind).toBe('finish');
  });

  test.each([
    ['refused', REFUSED],
    ['unanswered', UNKNOWN],
  ])('has proved a violation although its call is %s afterwards: no question is asked', async (_what, verdict) => {
    await reportViolations(stores, 'U1');
    const claimed = await mustClaimViolation(outbox, 'U1');
    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });
    const task = violationRefusedTask({ id: 'U1', httpStatus: 400, words: 'twice', hint: null });

    await outbox.ack(claimed, outcome(verdict, { task }));

    expect((await read('U1')).state).toBe('accepted');
    expect(await openTasks()).toEqual([]);
  });

  test('has proved a violation although its worker is lost afterwards', async () => {
    await reportViolations(stores, 'U1');
    await mustClaimViolation(outbox, 'U1');
    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });

    await eventually(() => claimAs(outbox, 'U1', 'finish'));

    expect(await read('U1')).toMatchObject({ state: 'accepted', inFlight: false });
  });

  test('for a violation that was surely never sent is noted and proves nothing', async () => {
    await reportViolations(stores, 'U1');
    const notSent = { next: 'retry', delayMs: 0, because: 'surely_not_sent' } as const;
    await outbox.ack(await mustClaimViolation(outbox, 'U1'), outcome(notSent, { hadNoEffect: true }));

    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });

    expect(await read('U1')).toMatchObject({ state: 'pending', towingReferenceIds: ['TW-1'], reference: 'V-1' });
    expect((await outbox.claim('U1')).kind).toBe('send');
  });

  test('for a violation that failed once and may have worked proves it before it is sent again', async () => {
    await reportViolations(stores, 'U1');
    const failed = { next: 'retry', delayMs: 0, because: 'failed' } as const;
    await outbox.ack(await mustClaimViolation(outbox, 'U1'), outcome(failed));

    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });

    expect((await read('U1')).state).toBe('accepted');
  });

  test('that is noted twice is noted once; another one of the same violation is noted too', async () => {
    await reportViolations(stores, 'U1');
    for (const towingReference of ['TW-1', 'TW-1', 'TW-2']) {
      await join(stores, 'U1', { towingReference, reference: 'V-1' });
    }

    expect(await read('U1')).toMatchObject({ towingReferenceIds: ['TW-1', 'TW-2'], version: 3 });
  });

  test('with another name for a settled violation makes it look for tows of that name too', async () => {
    await reportViolations(stores, 'U1');
    await outbox.ack(await mustClaimViolation(outbox, 'U1'), takenAs('V-1'));
    const { record } = await claimAs(outbox, 'U1', 'finish');
    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-other' });
    await outbox.finished(record);

    expect((await outbox.claim('U1')).kind).toBe('finish');
    expect(await idNamed(stores, 'V-other')).toBe('U1');
    expect((await read('U1')).reference).toBe('V-1');
  });

  test('that is joined while it is cleared up does not make that start again', async () => {
    await reportViolations(stores, 'U1');
    await outbox.ack(await mustClaimViolation(outbox, 'U1'), takenAs('V-1'));
    const { record } = await claimAs(outbox, 'U1', 'finish');
    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });
    await outbox.finished(record);

    expect((await outbox.claim('U1')).kind).toBe('idle');
  });
});
