import type { ConservationCounts } from '../../src/contracts/ops/conservation';
import { createConservationStore } from '../../src/store/ops/conservation';
import { createRetentionStore } from '../../src/store/ops/retention';
import { AT_ONCE, walk } from '../support/conservation';
import { ACCEPTED, mustClaim, openStores, result, START, towRequest, useStores } from '../support/stores';

const stores = useStores();
const redis = stores.server;

const idsOf = (count: number, prefix = 'd') => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const accept = (id: string) => stores.accept('tow_request', towRequest(`tow-of-${id}`), id);

/** All at once would keep the last waiting for longer than a command may take. */
async function forEach(ids: readonly string[], act: (id: string) => Promise<unknown>): Promise<void> {
  for (let done = 0; done < ids.length; done += 100) await Promise.all(ids.slice(done, done + 100).map(act));
}

test('no conservation result exists before the first scan is complete', async () => {
  await forEach(idsOf(100), accept);
  const conservation = createConservationStore(stores.redis, AT_ONCE);
  await conservation.step();

  expect(await conservation.lastScan()).toBeNull();
});

test('a conservation scan of an empty ledger completes at once', async () => {
  const { deliveries, reports, lostNames, startedAtMs, endedAtMs } = await walk(stores.redis);

  expect([deliveries.acknowledged, reports.acknowledged, lostNames]).toEqual([0, 0, []]);
  expect(endedAtMs).toBeGreaterThanOrEqual(startedAtMs);
});

test('a conservation scan checks thousands of entries in many steps, each once', async () => {
  await forEach(idsOf(3000), accept);
  await forEach(idsOf(1000), (id) => stores.process(id));
  for (const id of idsOf(300)) await stores.say(`tow-of-${id}`, START);
  await stores.redis.del('{towhook-main}:delivery:d2000', '{towhook-main}:tow:tow-of-d7');
  const conservation = createConservationStore(stores.redis, { ...AT_ONCE, namesPerStep: 150 });

  let steps = 1;
  while (!(await conservation.step()).isLast) steps += 1;

  // 3000 deliveries and 1000 tows.
  expect(steps).toBe(27);
  const none = { parked: 0, with_a_person: 0, repaired: 0 };
  expect(await conservation.lastScan()).toMatchObject({
    deliveries: { ...none, acknowledged: 3000, finished: 999, waiting: 1999, lost: 2 },
    reports: { ...none, acknowledged: 300, finished: 0, waiting: 299, lost: 1 },
    lostNames: ['delivery d7', 'delivery d2000', 'tow tow-of-d7'],
  });
});

test('several processes share one conservation scan and check each entry once', async () => {
  await forEach(idsOf(500), accept);
  const walkers = await Promise.all(Array.from({ length: 5 }, () => openStores(redis.url)));
  const steps = { ...AT_ONCE, namesPerStep: 10, scanIntervalMs: 60_000 };
  const walkers5 = walkers.map((walker) => createConservationStore(walker.redis, steps));

  const taken = await Promise.all(
    walkers5.map(async (walker) => {
      for (let count = 1; ; count += 1) {
        const { isLast, waitMs } = await walker.step();
        if (isLast || waitMs > 1000) return count;
      }
    }),
  );

  expect(taken.filter((count) => count > 1).length).toBeGreaterThan(1);
  expect((await walkers5[0]?.lastScan())?.deliveries).toMatchObject({ acknowledged: 500, waiting: 500, lost: 0 });
  walkers.forEach((walker) => walker.close());
});

describe('conservation scan during writes and archiving', () => {
  /** Requests tows; of every ten one is started, one canceled and its report accepted. */
  async function produce(prefix: string, count: number): Promise<void> {
    const mine = await openStores(redis.url);
    for (const id of idsOf(count, prefix)) {
      await mine.request(id);
      if (id.endsWith('0')) await mine.say(id, START);
      if (!id.endsWith('5')) continue;
      await mine.say(id, { event: 'canceled', cancellationReason: 'gone on arrival' });
      await mine.outbox.settle(await mustClaim(mine.outbox, id), result(ACCEPTED));
    }
    mine.close();
  }

  /** Removes half of the finished records from Redis, as the sweep does, and returns how many were removed. */
  async function retireUntil(over: AbortSignal): Promise<{ deliveries: number; reports: number }> {
    const mine = await openStores(redis.url);
    const retention = createRetentionStore(mine.redis);
    const left = { deliveries: 0, reports: 0 };
    const half = (_name: string, index: number) => index % 2 === 0;
    while (!over.aborted) {
      for (const id of (await retention.finished('delivery', 0, 10)).filter(half)) {
        const removal = await retention.remove('delivery', id, await retention.versionOf('delivery', id));
        if (removal === 'removed') left.deliveries += 1;
      }
      for (const ref of (await retention.finished('tow', 0, 10)).filter(half)) {
        const removal = await retention.remove('tow', ref, await retention.versionOf('tow', ref));
        if (removal === 'removed') left.reports += 1;
      }
    }
    mine.close();
    return left;
  }

  test('conservation scans during writes and archiving report no lost record and count each entry once', async () => {
    const ending = new AbortController();
    const conservation = createConservationStore(stores.redis, { ...AT_ONCE, namesPerStep: 20 });
    const tallies: ConservationCounts[] = [];
    const walking = (async () => {
      while (!ending.signal.aborted) {
        if (!(await conservation.step()).isLast) continue;
        const found = await conservation.lastScan();
        if (found) tallies.push(found.deliveries, found.reports);
      }
    })();
    const retiring = retireUntil(ending.signal);
    await Promise.all([produce('a', 200), produce('b', 200)]);
    ending.abort();
    const left = await retiring;
    await walking;

    expect(tallies.length).toBeGreaterThan(10);
    for (const { acknowledged, lost, repaired, ...states } of tallies) {
      const inAState = Object.values(states).reduce((sum, count) => sum + count, 0);
      expect({ lost, repaired, inAState }).toEqual({ lost: 0, repaired: 0, inAState: acknowledged });
    }
    expect(left.deliveries).toBeGreaterThan(50);
    expect(left.reports).toBeGreaterThan(5);
    const { deliveries, reports } = await scanAgain();
    const stayed = { deliveries: 400 - left.deliveries, canceled: 40 - left.reports };
    expect(deliveries).toMatchObject({ acknowledged: stayed.deliveries, finished: stayed.deliveries, lost: 0 });
    expect(reports).toMatchObject({ acknowledged: 40 + stayed.canceled, waiting: 40, finished: stayed.canceled });
  });

  /** Ends the walk that goes on, and makes a whole one. */
  async function scanAgain() {
    await walk(stores.redis);
    return walk(stores.redis);
  }

  test('a conservation scan ends although entries are added faster than it checks them', async () => {
    await forEach(idsOf(60), accept);
    const conservation = createConservationStore(stores.redis, { ...AT_ONCE, namesPerStep: 10 });
    let steps = 0;
    let isLast = false;
    while (!isLast && steps < 100) {
      isLast = (await conservation.step()).isLast;
      steps += 1;
      await forEach(idsOf(20, `${steps}-`), accept);
    }

    expect(steps).toBeLessThan(20);
    expect((await conservation.lastScan())?.deliveries.acknowledged).toBeGreaterThanOrEqual(60);
  });
});

describe('pace of conservation scans', () => {
  test('a conservation scan step does nothing when it starts too soon after the last step of any process', async () => {
    await forEach(idsOf(30), accept);
    const slow = createConservationStore(stores.redis, {
      ...AT_ONCE,
      namesPerStep: 10,
      paceMs: 60_000,
      scanIntervalMs: 1000,
    });
    expect(await slow.step()).toEqual({ isLast: false, waitMs: 60_000 });
    const before = await stores.redis.hgetall('{towhook-main}:check');

    const early = await slow.step();

    expect(early.isLast).toBe(false);
    expect(early.waitMs).toBeGreaterThan(50_000);
    expect(early.waitMs).toBeLessThanOrEqual(60_000);
    expect(await stores.redis.hgetall('{towhook-main}:check')).toEqual(before);
  });

  test('the next conservation scan of a small ledger starts after the scan interval', async () => {
    await accept('d1');
    const conservation = createConservationStore(stores.redis, { ...AT_ONCE, scanIntervalMs: 60_000 });

    const { isLast, waitMs } = await conservation.step();

    expect(isLast).toBe(true);
    expect(waitMs).toBeGreaterThan(59_000);
    expect((await conservation.step()).isLast).toBe(false);
  });

  test('a conservation scan continues soon after the clock of Redis was set back', async () => {
    await accept('d1');
    const conservation = createConservationStore(stores.redis, { ...AT_ONCE, scanIntervalMs: 1000 });
    await conservation.step();
    await stores.redis.hset('{towhook-main}:check', 'next_at', 9_999_999_999_999);

    expect((await conservation.step()).isLast).toBe(true);
  });
});
