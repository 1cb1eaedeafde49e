import { systemClock } from '../../src/platform/clock';
import { createAuditStore } from '../../src/store/audit';
import { Committer, type Commit } from '../../src/store/commit';
import { KEYS } from '../../src/store/keys';
import { createLocks } from '../../src/store/locks';
import { createRetentionStore } from '../../src/store/retention';
import { entryOf } from '../support/audit';
import { standings } from '../support/conservation';
import { useOwnRedis } from '../support/redis';
import { liveAndBeReleased } from '../support/retention';
import { openStores, START, towRequest, type Stores } from '../support/stores';
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

/** A commit whose first write needs memory. */
function writing(key: string): Commit {
  return { records: [{ key, expected: '', version: '1.a', set: { value: key } }], effects: [] };
}

describe('while Redis is full', () => {
  test('of commits sent together those that drain are written, and of the others nothing is', async () => {
    const committer = new Committer(stores.redis, () => systemClock.monotonicMs());
    await fill();

    const replies = await Promise.allSettled([
      committer.commit(writing('{p0}:new')),
      committer.commit(writing('{p0}:finishing'), { drains: true }),
      committer.commit(writing('{p0}:other-new')),
    ]);

    expect(replies).toMatchObject([
      { status: 'rejected' },
      { status: 'fulfilled', value: { kind: 'done' } },
      { status: 'rejected' },
    ]);
    const reasons = replies.flatMap((reply) => (reply.status === 'rejected' ? [String(reply.reason)] : []));
    expect(reasons).toEqual([expect.stringContaining('OOM'), expect.stringContaining('OOM')]);
    expect(await stores.redis.keys('*')).toEqual(['{p0}:finishing']);
  });

  test('a commit that drains is refused as stale like any other', async () => {
    const committer = new Committer(stores.redis, () => systemClock.monotonicMs());
    await committer.commit(writing('{p0}:record'));
    await fill();

    const later: Commit = { records: [{ key: '{p0}:record', expected: '0.z', version: '2.b' }], effects: [] };
    expect(await committer.commit(later, { drains: true })).toEqual({ kind: 'stale' });
  });

  test('a lock is taken, renewed and given back', async () => {
    await fill();
    const locks = createLocks(stores.redis, systemClock);

    const lock = await locks.take('work', LONG_MS);

    expect(await lock?.renew()).toBe(true);
    expect(await locks.take('work', LONG_MS)).toBeNull();
    await lock?.giveBack();
    expect((await locks.take('work', LONG_MS))?.epoch).toBe(2);
  });

  test('the answer to a violation under way is stored', async () => {
    const outbox = openOutbox(stores, { leaseMs: LONG_MS });
    await reportViolations(stores, 'U1');
    const claimed = await mustClaimViolation(outbox, 'U1');
    await fill();

    expect((await outbox.ack(claimed, takenAs('V-1'))).kind).toBe('done');

    expect(await readViolation(stores, 'U1')).toMatchObject({ state: 'accepted', reference: 'V-1' });
  });

  test('a right to send a violation is given back, so that its attempt does not count as lost', async () => {
    const outbox = openOutbox(stores, { leaseMs: LONG_MS });
    await reportViolations(stores, 'U1');
    const claimed = await mustClaimViolation(outbox, 'U1');
    await fill();

    await outbox.giveBack(claimed, { kind: 'images_unseen', delayMs: LONG_MS });

    expect(await readViolation(stores, 'U1')).toMatchObject({ state: 'pending', inFlight: false, attempts: 0 });
  });

  test('a violation whose images were deleted is finished and archived', async () => {
    const outbox = openOutbox(stores, { leaseMs: LONG_MS });
    await reportViolations(stores, 'U1');
    await outbox.ack(await mustClaimViolation(outbox, 'U1'), takenAs('V-1'));
    const { record } = await claimAs(outbox, 'U1', 'finish');
    await fill();

    await outbox.finished(record);

    const retention = createRetentionStore(stores.redis);
    expect(await retention.retireViolation('U1', await readViolation(stores, 'U1'))).toBe('retired');
    expect(await stores.violations.read('U1')).toBeNull();
  });

  test('a record that cannot be archived is put off, so that it does not hold up the others', async () => {
    await liveAndBeReleased(stores, 'T1');
    const retention = createRetentionStore(stores.redis);
    expect(await retention.towsOver(0, 10)).toEqual(['T1']);
    await fill();

    await retention.putOff('tow', 'T1', 0);

    expect(await retention.towsOver(0, 10)).toEqual([]);
  });

  test('the audit is read whole', async () => {
    const audit = createAuditStore(stores.redis);
    await audit.append({ audit: entryOf('task.resolved'), remember: undefined });
    await fill();

    expect(await audit.lines()).toHaveLength(1);
  });

  test('the conservation check finds what is lost, and puts what is owed back on the schedule', async () => {
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

  test('archived lines of the audit are removed', async () => {
    const audit = createAuditStore(stores.redis);
    const act = { audit: entryOf('task.resolved'), remember: undefined };
    for (let acts = 0; acts < 3; acts += 1) await audit.append(act);
    const lines = () => stores.redis.lrange(KEYS.audit, 0, -1);
    const [first = '', second = '', third] = await lines();
    await fill();

    await createRetentionStore(stores.redis).trimAudit([first, second]);

    expect(await lines()).toEqual([third]);
    await expect(audit.append(act)).rejects.toThrow(/^OOM /);
  });
});
