import { systemClock } from '../../src/platform/clock';
import { createAuditStore } from '../../src/store/ops/audit';
import { Committer, type Commit } from '../../src/store/redis/commit';
import { budgetKey, KEYS } from '../../src/store/keys';
import { createLocks } from '../../src/store/redis/locks';
import { createNotificationStore } from '../../src/store/ops/notification-record';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { createArchiveTask, createRetentionStore } from '../../src/store/ops/retention';
import { createProcessStore } from '../../src/store/ops/processes';
import { auditEntryOf } from '../support/audit';
import { standings } from '../support/conservation';
import { beatingProcess, NOTHING } from '../support/processes';
import { useOwnRedis } from '../support/redis';
import { createReleasedTow } from '../support/retention';
import { ACCEPTED, mustClaim, openStores, result, START, towRequest, type Stores } from '../support/stores';
import {
  claimAs,
  mustClaimViolation,
  openOutbox,
  readViolation,
  reportViolations,
  takenAs,
} from '../support/violations';

const redis = useOwnRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(async () => {
  stores.close();
  await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
});

/** Far less than an empty Redis uses: no write that needs memory succeeds until the limit is lifted. */
const fill = () => redis.ask('CONFIG', 'SET', 'maxmemory', '100kb', 'maxmemory-policy', 'noeviction');
const LONG_MS = 60_000;
const HEALTH = { deliveredAtMs: null, failingSinceMs: 1, problem: 'http_500' };

/** A commit whose first write needs memory. */
function writing(key: string): Commit {
  return { records: [{ key, expected: '', version: '1.a', set: { value: key } }], effects: [] };
}

describe('full Redis', () => {
  test('of commits in one call only those with whenFull are written while Redis is full', async () => {
    const committer = new Committer(stores.redis, () => systemClock.monotonicMs());
    await fill();

    const replies = await Promise.allSettled([
      committer.commit(writing('{towhook-main}:new')),
      committer.commit(writing('{towhook-main}:finishing'), { whenFull: true }),
      committer.commit(writing('{towhook-main}:other-new')),
    ]);

    expect(replies).toMatchObject([
      { status: 'rejected' },
      { status: 'fulfilled', value: 'done' },
      { status: 'rejected' },
    ]);
    const reasons = replies.flatMap((reply) => (reply.status === 'rejected' ? [String(reply.reason)] : []));
    expect(reasons).toEqual([expect.stringContaining('OOM'), expect.stringContaining('OOM')]);
    expect(await stores.redis.keys('*')).toEqual(['{towhook-main}:finishing']);
  });

  test('a commit with whenFull on an old version is refused as stale', async () => {
    const committer = new Committer(stores.redis, () => systemClock.monotonicMs());
    await committer.commit(writing('{towhook-main}:record'));
    await fill();

    const later: Commit = { records: [{ key: '{towhook-main}:record', expected: '0.z', version: '2.b' }], effects: [] };
    expect(await committer.commit(later, { whenFull: true })).toBe('stale');
  });

  test('the notices of an alarm are stored while Redis is full', async () => {
    const store = createNotificationStore(stores.redis);
    await fill();

    await store.advance((state) => ({ ...state, channels: { ...state.channels, mail: HEALTH } }));
    expect((await store.read()).channels.mail).toEqual(HEALTH);
  });

  test('a process is listed with its heartbeats and leaves the list while Redis is full', async () => {
    const store = createProcessStore(stores.redis);
    await fill();

    await store.beat(beatingProcess('p1', { problems: ['redis'] }), {
      added: { 'answers.not_stored': 1 },
      highest: {},
    });
    expect(await store.list()).toMatchObject([{ id: 'p1', isSilent: false, isReady: false, problems: ['redis'] }]);
    await store.leave('p1', NOTHING);

    expect(await store.list()).toEqual([]);
  });

  test('a lock can be acquired, renewed and released while Redis is full', async () => {
    await fill();
    const locks = createLocks(stores.redis, systemClock);

    const lock = await locks.acquire('work', LONG_MS);

    expect(await lock?.renew()).toBe(true);
    expect(await locks.acquire('work', LONG_MS)).toBeNull();
    await lock?.release();
    expect((await locks.acquire('work', LONG_MS))?.epoch).toBe(2);
  });

  test('the answer to a violation in flight is stored while Redis is full', async () => {
    const outbox = openOutbox(stores, { leaseMs: LONG_MS });
    await reportViolations(stores, 'U1');
    const claimed = await mustClaimViolation(outbox, 'U1');
    await fill();

    expect((await outbox.settle(claimed, takenAs('V-1'))).kind).toBe('done');

    expect(await readViolation(stores, 'U1')).toMatchObject({ state: 'accepted', reference: 'V-1' });
  });

  test('the answer to a report is stored with the claim of the next one, and its permit, while Redis is full', async () => {
    const rateLimit = { limit: 100, windowMs: LONG_MS };
    const times = { leaseMs: LONG_MS, graceMs: 0, giveUpAfterMs: LONG_MS };
    const outbox = createTowOutbox(stores.redis, systemClock, { ...times, rateLimit });
    await stores.request('T1');
    await stores.say('T1', START);
    await stores.say('T1', { event: 'detained' });
    const claimed = await mustClaim(outbox, 'T1');
    await fill();

    const { kind, next } = await outbox.settle(claimed, result(ACCEPTED), true);

    expect([kind, next]).toMatchObject(['done', { kind: 'send', entry: { id: 'detained-2' } }]);
    expect((await stores.read('T1')).reports.map(({ state }) => state)).toEqual(['accepted', 'pending']);
    expect(await stores.redis.llen(budgetKey('tow'))).toBe(2);
  });

  test('the lease of a violation is released while Redis is full, so that its attempt does not count as lost', async () => {
    const outbox = openOutbox(stores, { leaseMs: LONG_MS });
    await reportViolations(stores, 'U1');
    const claimed = await mustClaimViolation(outbox, 'U1');
    await fill();

    await outbox.giveBack(claimed, { kind: 'images_unseen', delayMs: LONG_MS });

    expect(await readViolation(stores, 'U1')).toMatchObject({ state: 'pending', attemptId: null, attempts: 0 });
  });

  test('a violation whose images were deleted is finished and archived while Redis is full', async () => {
    const outbox = openOutbox(stores, { leaseMs: LONG_MS });
    await reportViolations(stores, 'U1');
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), takenAs('V-1'));
    const { record } = await claimAs(outbox, 'U1', 'cleanup');
    await fill();

    await outbox.completeCleanup(record);

    const retention = createRetentionStore(stores.redis);
    expect(await retention.remove('violation', 'U1', await retention.versionOf('violation', 'U1'))).toBe('removed');
    expect(await stores.violations.read('U1')).toBeNull();
  });

  test('a record that cannot be archived while Redis is full is postponed and does not delay other records', async () => {
    await createReleasedTow(stores, 'T1');
    const retention = createRetentionStore(stores.redis);
    expect(await retention.finished('tow', 0, 10)).toEqual(['T1']);
    await fill();

    await retention.putOff('tow', 'T1', 0);

    expect(await retention.finished('tow', 0, 10)).toEqual([]);
  });

  test('the task of a failing archive is opened and closed while Redis is full', async () => {
    const task = createArchiveTask(stores.redis);
    await fill();

    await task.open('ENOSPC');
    expect(await stores.generalTasks()).toMatchObject([{ id: 'archive_failing', type: 'archive_failing' }]);

    await task.close();
    expect(await stores.generalTasks()).toEqual([]);
  });

  test('the whole audit can be read while Redis is full', async () => {
    const audit = createAuditStore(stores.redis);
    await audit.append({ audit: auditEntryOf('task.resolved'), idempotency: undefined });
    await fill();

    expect(await audit.lines()).toHaveLength(1);
  });

  test('the conservation check finds lost records and reschedules work while Redis is full', async () => {
    await stores.request('T1');
    await stores.say('T1', START);
    await stores.accept('tow_request', towRequest('T2'), 'd2');
    await stores.redis.zrem(KEYS.dueTows, 'T1');
    await stores.redis.zrem(KEYS.dueDeliveries, 'd2');
    await fill();

    expect(await standings(stores.redis)).toMatchObject({
      deliveries: { lost: 1, repaired: 1 },
      reports: { lost: 1, repaired: 1 },
    });

    expect([await stores.dueAt('T1'), await stores.redis.zscore(KEYS.dueDeliveries, 'd2')]).not.toContain(null);
  });

  test('archived audit lines are removed while Redis is full', async () => {
    const audit = createAuditStore(stores.redis);
    const act = { audit: auditEntryOf('task.resolved'), idempotency: undefined };
    for (let acts = 0; acts < 3; acts += 1) await audit.append(act);
    const lines = () => stores.redis.lrange(KEYS.audit, 0, -1);
    const [first = '', second = '', third] = await lines();
    await fill();

    await createRetentionStore(stores.redis).trimAudit([first, second]);

    expect(await lines()).toEqual([third]);
    await expect(audit.append(act)).rejects.toThrow(/^OOM /);
  });
});
