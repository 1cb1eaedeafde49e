import { createConservationStore } from '../../src/store/ops/conservation';
import { closeGeneralTask, openGeneralTask, createTaskStore } from '../../src/store/ops/tasks';
import { deliveryKey, KEYS, taskGroupKey, taskGroupsKey, towKey } from '../../src/store/keys';
import { repairRecord } from '../../src/store/ops/repair';
import { decodeRecord } from '../../src/store/outbox/record-kinds';
import { createRetentionStore } from '../../src/store/ops/retention';
import { recordsLostTask } from '../../src/domain/ops/tasks';
import { AT_ONCE, standings, walk } from '../support/conservation';
import { changeEntry } from '../support/stored-records';
import { ACCEPTED, mustClaim, openStores, result, START, towRequest, type Stores, useStores } from '../support/stores';

const stores = useStores();
const redis = stores.server;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const found = () => standings(stores.redis);
const owed = async () => (await found()).reports;

async function towWithOne(ref = 'T1'): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, START);
}

test('a task that is listed already is not counted again when its tow is put back on the schedule', async () => {
  await towWithOne();
  await stores.accept('tow_request', { ...towRequest('T1'), violation_reference_id: 'V-other' }, 'rival');
  await stores.process('rival');
  const counted = () => stores.redis.zscore(taskGroupsKey, 'rival_request');
  expect(await counted()).toBe('1');
  await stores.redis.zrem(KEYS.dueTows, 'T1');

  expect(await owed()).toEqual({ lost: 1, repaired: 1 });

  expect(await counted()).toBe('1');
  expect(await stores.resolve('rival_request.T1')).toBe('done');
  expect(await counted()).toBeNull();
});

test('a task that fell out of the lists is listed again and counted once', async () => {
  await towWithOne();
  await stores.accept('tow_request', { ...towRequest('T1'), violation_reference_id: 'V-other' }, 'rival');
  await stores.process('rival');
  await stores.redis.del(KEYS.tasks, KEYS.openTasks, taskGroupKey('rival_request'), taskGroupsKey);
  await stores.redis.zrem(KEYS.dueTows, 'T1');

  await found();

  const tasks = createTaskStore(stores.redis);
  const counts = (await tasks.counts()).types.filter(({ type }) => type === 'rival_request');
  expect(counts).toEqual([{ type: 'rival_request', count: 1, kinds: [] }]);
  const filter = { type: 'rival_request' };
  expect(await tasks.list({ cursor: null, limit: 10, filter })).toMatchObject({ items: [{ id: 'rival_request.T1' }] });
});

test('a task that two processes list again at once is counted once', async () => {
  await towWithOne();
  await stores.accept('tow_request', { ...towRequest('T1'), violation_reference_id: 'V-other' }, 'rival');
  await stores.process('rival');
  await stores.redis.del(KEYS.tasks, KEYS.openTasks, taskGroupKey('rival_request'), taskGroupsKey);
  const record = decodeRecord('tow', 'T1', await stores.redis.hgetall(towKey('T1')));
  if (!record) throw new Error('the tow is stored');
  const other = await openStores(redis.url);
  try {
    await Promise.all([stores, other].map((process) => repairRecord(process.redis, record)));
  } finally {
    other.close();
  }

  expect(await stores.redis.zscore(taskGroupsKey, 'rival_request')).toBe('1');
  expect(await stores.resolve('rival_request.T1')).toBe('done');
});

describe('schedule entries far in the future', () => {
  // As a clock of Redis leaves them that was three hours ahead for a moment.
  const FAR_MS = Date.now() + 3 * HOUR_MS;

  test('the conservation scan makes a tow due when only its schedule entry is far in the future', async () => {
    await towWithOne();
    await stores.redis.zadd(KEYS.dueTows, FAR_MS, 'T1');

    expect(await owed()).toEqual({ lost: 1, repaired: 1 });

    expect(await owed()).toEqual({ waiting: 1 });
    expect(await stores.schedules.reports.pollDue(10, 1000)).toEqual(['T1']);
  });

  test('the conservation scan makes a tow due when its record waits until far in the future', async () => {
    await towWithOne();
    await changeEntry(stores.redis, { ref: 'T1' }, 1, { nextAtMs: FAR_MS });
    await stores.redis.zadd(KEYS.dueTows, FAR_MS, 'T1');

    expect(await owed()).toEqual({ lost: 1, repaired: 1 });

    expect(await owed()).toEqual({ waiting: 1 });
    expect(await stores.schedules.reports.pollDue(10, 1000)).toEqual(['T1']);
    expect(await mustClaim(stores.outbox, 'T1')).toMatchObject({ entry: { kind: 'started' } });
  });

  test('the conservation scan makes a tow due whose permit is far in the future', async () => {
    await towWithOne();
    await changeEntry(stores.redis, { ref: 'T1' }, 1, { waitsFor: 'budget' });
    await stores.change('T1', (draft) => {
      draft.runAtMs = FAR_MS;
    });
    await stores.redis.zadd(KEYS.dueTows, FAR_MS, 'T1');

    expect(await owed()).toEqual({ lost: 1, repaired: 1 });

    expect(await owed()).toEqual({ waiting: 1 });
    expect(await stores.schedules.reports.pollDue(10, 1000)).toEqual(['T1']);
  });

  test('a repair keeps a lease that lasts and a wait that is not far in the future', async () => {
    await towWithOne();
    const inAnHourMs = Date.now() + 3_600_000;
    await changeEntry(stores.redis, { ref: 'T1' }, 1, { nextAtMs: inAnHourMs });
    const untilMs = Date.now() + 60_000;
    await stores.change('T1', (draft) => {
      draft.lease = { token: 'a worker', untilMs };
      draft.runAtMs = inAnHourMs;
    });
    const stored = async () => decodeRecord('tow', 'T1', await stores.redis.hgetall(towKey('T1')));
    const record = await stored();
    if (!record) throw new Error('the tow is stored');

    await repairRecord(stores.redis, record);

    expect(await stored()).toMatchObject({
      lease: { untilMs },
      runAtMs: inAnHourMs,
      entries: [{ nextAtMs: inAnHourMs }],
    });
  });

  test.each([
    ['20 minutes', 1_200_000],
    ['a day', DAY_MS],
  ])('the conservation scan removes a lease that ends in %s, as no lease is that long', async (_ahead, aheadMs) => {
    await towWithOne();
    await mustClaim(stores.outbox, 'T1');
    const untilMs = Date.now() + aheadMs;
    await stores.redis.hset(towKey('T1'), 'v', '99.test', 'lease', JSON.stringify({ token: 'x', untilMs }));
    await stores.redis.zadd(KEYS.dueTows, untilMs, 'T1');

    expect(await owed()).toEqual({ lost: 1, repaired: 1 });

    expect(await owed()).toEqual({ waiting: 1 });
    expect(await stores.schedules.reports.pollDue(10, 1000)).toEqual(['T1']);
    expect(await stores.redis.hexists(towKey('T1'), 'lease')).toBe(0);
  });

  test('the conservation scan makes a delivery due when its schedule entry is far in the future', async () => {
    await stores.accept('tow_request', towRequest('T1'), 'd1');
    await stores.redis.zadd(KEYS.dueDeliveries, FAR_MS, 'd1');

    expect((await found()).deliveries).toEqual({ lost: 1, repaired: 1 });

    expect((await found()).deliveries).toEqual({ waiting: 1 });
    expect(await stores.schedules.deliveries.pollDue(10, 1000)).toEqual(['d1']);
  });

  test.each([
    ['waits for its next try', 'pending'],
    ['waits for a proof', 'unknown'],
  ] as const)('the conservation scan does not change a tow whose report %s for an hour', async (_why, state) => {
    await towWithOne();
    const nextAtMs = Date.now() + HOUR_MS;
    await changeEntry(stores.redis, { ref: 'T1' }, 1, { state, nextAtMs });
    await stores.redis.zadd(KEYS.dueTows, nextAtMs, 'T1');

    expect(await owed()).toEqual({ waiting: 1 });
    expect(await stores.dueAt('T1')).toBe(nextAtMs);
  });
});

describe('tow request without its tow', () => {
  /** Processed so many days ago. */
  async function processed(ref: string, days: number): Promise<void> {
    await stores.request(ref);
    await stores.redis.hset(deliveryKey(`request-${ref}`), 'processedAtMs', Date.now() - days * DAY_MS);
    await stores.redis.del(towKey(ref));
    await stores.redis.zrem(KEYS.indexTows, ref);
  }

  test('a tow request is not counted as lost when the archived marker of its tow may have expired', async () => {
    await processed('T1', 401);
    await processed('T2', 399);

    expect((await found()).deliveries).toEqual({ finished: 1, lost: 1 });
    expect((await walk(stores.redis)).lostNames).toEqual(['delivery request-T2']);
  });
});

describe('conservation scan of a tow that changes', () => {
  let scanning: Stores;
  beforeEach(async () => {
    scanning = await openStores(redis.url);
  });
  afterEach(() => scanning.close());

  test('a tow is not counted as lost when its last report was accepted between two reads of the scan', async () => {
    await towWithOne();
    const accept = async () => stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
    const connection = scanning.redis;
    const zmscore = connection.zmscore.bind(connection);
    // The record is read before the change, its place on the schedule after it.
    jest.spyOn(connection, 'zmscore').mockImplementation(async (...args: Parameters<typeof zmscore>) => {
      if (args[0] === KEYS.dueTows) await accept();
      return zmscore(...args);
    });

    const { reports, lostNames } = await walk(connection);

    expect(lostNames).toEqual([]);
    expect(reports).toMatchObject({ acknowledged: 1, finished: 1, lost: 0, repaired: 0 });
    expect(await stores.dueAt('T1')).toBeNull();
  });

  test('a tow is not counted as lost when it was archived after the scan read its name', async () => {
    await stores.request('T1');
    await stores.say('T1', { event: 'canceled', cancellationReason: 'gone on arrival' });
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
    const retention = createRetentionStore(stores.redis);
    const archive = async () => {
      expect(await retention.remove('tow', 'T1', await retention.versionOf('tow', 'T1'))).toBe('removed');
    };
    const connection = scanning.redis;
    const zrangebyscore = connection.zrangebyscore.bind(connection);
    const reading = jest.spyOn(connection, 'zrangebyscore');
    reading.mockImplementation(async (...args: Parameters<typeof zrangebyscore>) => {
      const names = await zrangebyscore(...args);
      if (args[0] === KEYS.indexTows && names.includes('T1')) await archive();
      return names;
    });

    const { reports, lostNames } = await walk(connection);

    expect(lostNames).toEqual([]);
    expect(reports).toMatchObject({ acknowledged: 0, lost: 0 });
    expect(await stores.tows.read('T1')).toBeNull();
  });
});

describe('conservation scan steps of several processes', () => {
  test('a conservation scan step that another process has taken over is not counted', async () => {
    for (const ref of ['T1', 'T2', 'T3']) await towWithOne(ref);
    const slow = await openStores(redis.url);
    const conservation = createConservationStore(slow.redis, { ...AT_ONCE, namesPerStep: 2 });
    const { redis: connection } = slow;
    const zmscore = connection.zmscore.bind(connection);
    let isHeld = false;
    jest.spyOn(connection, 'zmscore').mockImplementation(async (...args: Parameters<typeof zmscore>) => {
      if (!isHeld) {
        isHeld = true;
        // As if it had been stopped for longer than a step may take.
        await stores.redis.hset(KEYS.scan, 'v', '1000.other', 'busy_until', 1);
        await walk(stores.redis);
      }
      return zmscore(...args);
    });

    expect((await conservation.step()).isLast).toBe(false);

    const { reports, deliveries } = await walk(stores.redis);
    expect([reports.acknowledged, deliveries.acknowledged]).toEqual([3, 3]);
    slow.close();
  });

  test('a conservation scan step is repeated after its process was lost', async () => {
    await towWithOne();
    const conservation = createConservationStore(stores.redis, AT_ONCE);
    await stores.redis.hset(KEYS.scan, 'v', '1.lost', 'busy_until', Date.now() + 8000);
    const busy = await conservation.step();
    expect(busy.isLast).toBe(false);
    expect(busy.waitMs).toBeGreaterThan(0);

    await stores.redis.hset(KEYS.scan, 'v', '1.lost', 'busy_until', 1);

    expect((await conservation.step()).isLast).toBe(true);
  });
});

describe('general tasks', () => {
  test('a general task is opened once by two processes and closed once', async () => {
    const other = await openStores(redis.url);
    const tasks = createTaskStore(stores.redis);

    const opened = await Promise.all([stores, other].map((process) => openGeneralTask(process.redis, recordsLostTask)));
    expect(opened.filter(Boolean)).toHaveLength(1);
    expect(await openGeneralTask(stores.redis, recordsLostTask)).toBe(false);
    expect(await tasks.counts()).toEqual({ total: 1, types: [{ type: 'records_lost', count: 1, kinds: [] }] });
    expect((await tasks.read('records_lost'))?.opened_at).toBeDefined();

    const closed = await Promise.all(
      [stores, other].map((process) => closeGeneralTask(process.redis, recordsLostTask.subject)),
    );
    expect(closed.filter(Boolean)).toHaveLength(1);
    expect(await tasks.counts()).toEqual({ total: 0, types: [] });
    expect(await tasks.read('records_lost')).toBeNull();
    other.close();
  });
});
