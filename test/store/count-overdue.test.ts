import { countOverdue, overdueReportSince } from '../../src/store/tow/count-overdue';
import { towsSinceKey, unsentTowsKey } from '../../src/store/keys';
import { START, useStores } from '../support/stores';

const stores = useStores();
const redis = stores.server;

const NOW_MS = 1_000_000_000;
const AFTER = { requestedMs: 1000, startedMs: 2000, reportMs: 3000 };
const count = () => countOverdue(stores.redis, AFTER, NOW_MS);

/** Adds tows `from` to `to` to an index; they are there since `ageMs` before now. */
async function list(key: string, { from, to, ageMs }: { from: number; to: number; ageMs: number }): Promise<void> {
  for (let start = from; start < to; start += 5000) {
    const tows = Array.from({ length: Math.min(5000, to - start) }, (_, at) => [NOW_MS - ageMs, `T${start + at}`]);
    await stores.redis.zadd(key, ...tows.flat());
  }
}

/** How often a command ran since the statistics were reset. */
async function calls(command: string): Promise<number> {
  const stats = await stores.redis.info('commandstats');
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}

test('the overdue count includes a tow once when both its state and its report are overdue', async () => {
  await list(towsSinceKey('requested'), { from: 0, to: 2, ageMs: 1001 });
  await list(towsSinceKey('started'), { from: 10, to: 20, ageMs: 2001 });
  await list(towsSinceKey('started'), { from: 20, to: 25, ageMs: 2000 });
  await list(unsentTowsKey, { from: 18, to: 25, ageMs: 3001 });

  expect(await count()).toBe(2 + 10 + 7 - 2);
});

test('the overdue count is exact while at most 10,000 tows have an overdue report', async () => {
  await list(towsSinceKey('started'), { from: 0, to: 40_000, ageMs: 2001 });
  await list(unsentTowsKey, { from: 33_333, to: 43_333, ageMs: 3001 });

  expect(await count()).toBe(43_333);
});

test('the overdue count reads at most 10,000 tows once per second and stays between the larger group and the sum', async () => {
  await list(towsSinceKey('started'), { from: 0, to: 40_000, ageMs: 2001 });
  await list(unsentTowsKey, { from: 20_000, to: 50_000, ageMs: 3001 });
  await redis.ask('CONFIG', 'RESETSTAT');

  const counts = [await count(), await count()];

  expect(await calls('zmscore')).toBeLessThanOrEqual(20);
  for (const found of counts) {
    expect(found).toBeGreaterThanOrEqual(40_000);
    expect(found).toBeLessThanOrEqual(70_000);
  }
});

test('the overdue count estimates the tows that are overdue for both reasons from the oldest of them', async () => {
  await list(towsSinceKey('started'), { from: 0, to: 40_000, ageMs: 2001 });
  await list(unsentTowsKey, { from: 0, to: 20_000, ageMs: 3001 });

  expect(await count()).toBe(40_000);
});

test('the overdue count of few tows reflects a change at once', async () => {
  await list(towsSinceKey('started'), { from: 0, to: 900, ageMs: 2001 });
  await list(unsentTowsKey, { from: 0, to: 900, ageMs: 3001 });
  expect(await count()).toBe(900);

  await list(unsentTowsKey, { from: 900, to: 910, ageMs: 3001 });

  expect(await count()).toBe(910);
});

test('only tows in a state that may be overdue are in an index of times', async () => {
  const indexed = async () => (await stores.redis.keys('*:since:*')).map((key) => key.split(':since:')[1]);

  await stores.request('T1');
  expect(await indexed()).toEqual(['requested']);
  await stores.say('T1', START);
  expect(await indexed()).toEqual(['started']);
  await stores.say('T1', { event: 'detained' });
  expect(await indexed()).toEqual([]);
});

test('the oldest report is overdue once it is older than the limit, and never without a limit', async () => {
  expect(await overdueReportSince(stores.redis, 3000, NOW_MS)).toBeNull();
  await list(unsentTowsKey, { from: 0, to: 1, ageMs: 3000 });
  expect(await overdueReportSince(stores.redis, 3000, NOW_MS)).toBeNull();
  await list(unsentTowsKey, { from: 1, to: 2, ageMs: 3001 });
  expect(await overdueReportSince(stores.redis, 3000, NOW_MS)).toBe(NOW_MS - 3001);
  expect(await overdueReportSince(stores.redis, 0, NOW_MS)).toBeNull();
});
