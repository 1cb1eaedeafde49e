import { addEvent, type StoredTow } from '../../src/domain/outbox/outbox-record';
import { waiveEntry } from '../../src/domain/outbox/settle-entry';
import { editEntryNamed } from '../../src/domain/tow/stored-tow';
import { systemClock, type Clock } from '../../src/platform/clock';
import { ClaimAttempt } from '../../src/store/outbox/claims';
import { Committer } from '../../src/store/redis/commit';
import { KEYS, towKey } from '../../src/store/keys';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { Records, recordsOf } from '../../src/store/outbox/records';
import { RecordTransaction, type TransactionMemory } from '../../src/store/redis/transaction';
import { commandsOf } from '../support/command-counts';
import { FORBIDDEN } from '../support/exchanges';
import { NO_LIMITS } from '../support/outboxes';
import { openConnection } from '../support/redis';
import { copyRecord } from '../support/stored-records';
import { ACCEPTED, GRACE_MS, mustClaim, openStores, result, START, useStores } from '../support/stores';
import { mustClaimViolation, openOutbox, readViolation, reportViolations } from '../support/violations';

const stores = useStores();
const redis = stores.server;
afterEach(() => {
  jest.restoreAllMocks();
});

const LEASE_MS = 20_000;
const settings = { leaseMs: LEASE_MS, graceMs: GRACE_MS, ...NO_LIMITS };

async function starting(ref: string): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, START);
}

test('a decision based on a missing tow is repeated when the tow is stored meanwhile', async () => {
  const records = recordsOf(stores.redis);

  await records.transact('any', async (transaction) => {
    const { tow } = await transaction.tow('T1');
    if (tow) return;
    await starting('T1');
    transaction.effect(['ZREM', KEYS.dueTows, 'T1']);
  });

  expect(await stores.dueAt('T1')).not.toBeNull();
});

test('a decision on a processed delivery is repeated when the delivery is replayed meanwhile', async () => {
  await stores.request('T1');

  await recordsOf(stores.redis).transact('any', async (transaction) => {
    const delivery = await transaction.delivery('request-T1');
    if (delivery?.state !== 'processed') return;
    await stores.replay('request-T1');
    transaction.effect(['ZREM', KEYS.dueDeliveries, 'request-T1']);
  });

  expect(await stores.redis.zscore(KEYS.dueDeliveries, 'request-T1')).not.toBeNull();
});

test('a decision on a proof is repeated when a failover loses the proof and another one follows', async () => {
  await stores.request('T1');
  const failOver = await copyRecord(stores.redis, towKey('T1'));
  await stores.acceptInvoice('T1', 'lost');
  let decisions = 0;

  await recordsOf(stores.redis).transact('any', async (transaction) => {
    decisions += 1;
    const draft = await transaction.tow('T1');
    addEvent(draft, { type: 'decided' }, transaction.nowMs);
    if (decisions > 1) return;
    await failOver();
    await stores.acceptInvoice('T1', 'kept');
  });

  expect(decisions).toBe(2);
});

test('reads of one record at the same time share one draft, so that no change to it is lost', async () => {
  await stores.request('T1');

  const drafts = await recordsOf(stores.redis).transact('any', async (transaction) =>
    Promise.all([transaction.tow('T1'), transaction.tow('T1')]),
  );

  expect(drafts[0]).toBe(drafts[1]);
});

test('a process whose clock runs ahead does not take over a lease that has not expired', async () => {
  await starting('T1');
  await mustClaim(createTowOutbox(stores.redis, systemClock, settings), 'T1');
  const other = await openConnection(redis.url);
  let aheadMs = 0;
  const clock: Clock = {
    ...systemClock,
    nowMs: () => systemClock.nowMs() + aheadMs,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  };
  const records = recordsOf(other, clock);
  await records.nowMs();
  aheadMs = 2 * LEASE_MS;

  const claim = await createTowOutbox(other, clock, settings).claim('T1');

  expect(claim.kind).toBe('busy');
  other.disconnect();
});

test('a transaction does not wait for a hanging transaction with the same order key', async () => {
  const records = new Records(stores.redis, systemClock);
  void records.transact('tow T1', () => new Promise(() => {}));

  expect(await records.transact('tow T1', () => Promise.resolve('decided'))).toBe('decided');
});

test('settling whose reply is lost keeps its next claim when the tow changes before the repetition', async () => {
  await starting('T1');
  await stores.say('T1', { event: 'detained' });
  const outbox = createTowOutbox(stores.redis, systemClock, settings);
  const claimed = await mustClaim(outbox, 'T1');
  jest.spyOn(Committer.prototype, 'commit').mockImplementationOnce(async function (this: Committer, commit, options) {
    await this.commit(commit, options);
    const other = await openStores(redis.url);
    await other.say('T1', { event: 'released' });
    other.close();
    throw new Error('Connection is closed.');
  });

  const stored = await outbox.settle(claimed, result(ACCEPTED), true);

  expect(stored).toMatchObject({ kind: 'done', next: { kind: 'send', entry: { kind: 'detained', attempts: 1 } } });
});

test('a claim whose reply is lost continues with the next report when its own was waived meanwhile', async () => {
  await starting('T1');
  await stores.say('T1', { event: 'detained' });
  const outbox = createTowOutbox(stores.redis, systemClock, settings);
  jest.spyOn(Committer.prototype, 'commit').mockImplementationOnce(async function (this: Committer, commit, options) {
    await this.commit(commit, options);
    const other = await openStores(redis.url);
    await other.change('T1', (draft, nowMs) => waiveEntry(draft, editEntryNamed(draft, 'started-1'), 'seen', nowMs));
    other.close();
    throw new Error('Connection is closed.');
  });

  const claim = await outbox.claim('T1');

  expect(claim).toMatchObject({ kind: 'send', entry: { kind: 'detained', attempts: 1 } });
});

test('a report settled while it requests a permit leaves the rate limit queue', async () => {
  await starting('T1');
  await starting('T2');
  const rateLimit = { limit: 1, windowMs: 60_000 };
  const limited = { ...settings, graceMs: 0, checksTicket: false, rateLimit };
  await mustClaim(createTowOutbox(stores.redis, systemClock, { ...settings, rateLimit }), 'T1');
  const attempt = new ClaimAttempt(stores.redis, systemClock, { settings: limited });
  let tries = 0;

  await recordsOf(stores.redis).transact('any', async (transaction) => {
    await attempt.decide(transaction, await transaction.tow('T2'));
    tries += 1;
    if (tries === 1) await stores.decide('T2', 'started-1', { action: 'waive', reason: 'seen' });
  });

  expect(tries).toBe(2);
  expect(await stores.redis.zrange(KEYS.permitQueueTows, '0', '-1')).toEqual([]);
});

test('a report refused before its operation was paused is blocked by the pause in every process', async () => {
  const others = await openStores(redis.url);
  for (const ref of ['A', 'B', 'C', 'X']) await starting(ref);
  const claims = await Promise.all(['A', 'B', 'C'].map((ref) => mustClaim(stores.outbox, ref)));
  await mustClaim(others.outbox, 'X');
  const refused = result({ next: 'refused', hint: null }, { exchange: FORBIDDEN });
  await Promise.all(claims.map((claim) => stores.outbox.settle(claim, refused)));

  const claim = await others.outbox.claim('A');

  expect(claim.kind).toBe('wait');
  others.close();
});

test('a decision on a kept record is stale when the same process changes the record meanwhile', async () => {
  await reportViolations(stores, 'U1');
  await mustClaimViolation(openOutbox(stores), 'U1');
  const { records } = stores;
  let decisions = 0;

  await records.transact(
    'an accepted answer about another violation',
    async (transaction) => {
      const violation = await transaction.violation('U1');
      if (!violation) throw new Error('no violation U1');
      decisions += 1;
      if (decisions === 1) {
        await records.transact(
          'violation U1',
          async (other) => Object.assign((await other.violation('U1')) ?? {}, { canTow: true }),
          { usesKept: true },
        );
      }
      violation.serviceStatus = 'CLOSED';
    },
    { usesKept: true },
  );

  expect(decisions).toBe(2);
  expect(await readViolation(stores, 'U1')).toMatchObject({ canTow: true, serviceStatus: 'CLOSED' });
});

test('a process keeps the records that it has leased, and none that another process has leased', async () => {
  await starting('T1');
  const newMemory = (): TransactionMemory => ({
    leased: new Map(),
    circuits: { kept: null, sendsNothing: false },
  });
  const written = async (memory: TransactionMemory, usesKept: boolean, change: (tow: StoredTow) => void) => {
    const newId = () => systemClock.id();
    const transaction = new RecordTransaction(stores.redis, newId, systemClock.nowMs(), memory, usesKept);
    change(await transaction.tow('T1'));
    const commit = transaction.commit();
    if (!commit) throw new Error('nothing was changed');
    expect(await stores.records.commit(commit)).toBe('done');
    transaction.keepWritten();
    return [...memory.leased.keys()];
  };
  const note = (tow: StoredTow) => addEvent(tow, { type: 'noted' }, systemClock.nowMs());
  const [worker, others] = [newMemory(), newMemory()];

  const claim = (tow: StoredTow) => (tow.lease = { token: 'L1', untilMs: systemClock.nowMs() + LEASE_MS });
  expect(await written(worker, false, claim)).toEqual([towKey('T1')]);
  expect(await written(worker, true, note)).toEqual([towKey('T1')]);
  expect(await written(others, false, note)).toEqual([]);
  expect(await written(worker, false, (tow) => (tow.lease = null))).toEqual([]);
});

test('after a stale commit a process keeps the record that it has leased as soon as it has written it again', async () => {
  await starting('T1');
  const outbox = createTowOutbox(stores.redis, systemClock, settings);
  const claimed = await mustClaim(outbox, 'T1');
  const other = await openStores(redis.url);
  const readsOf = (action: () => Promise<unknown>) => commandsOf(redis, action, (name) => name === 'hgetall');
  const renew = async () => expect(await outbox.renew(claimed)).toBe(true);
  try {
    expect(await readsOf(renew)).toBe(0);
    await other.say('T1', { event: 'detained' });

    expect(await readsOf(renew)).toBe(1);
    expect(await readsOf(renew)).toBe(0);
    expect(await readsOf(() => outbox.settle(claimed, result(ACCEPTED)))).toBe(0);
  } finally {
    other.close();
  }
});
