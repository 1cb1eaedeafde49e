import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { createProgress } from '../../src/queue/progress';
import { startPump, type Due, type Pump } from '../../src/queue/pump';
import { createDueSets } from '../../src/store/due';
import { KEYS } from '../../src/store/keys';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { done, openWorld, type World } from './world';

const redis = useRedis();
let world: World;
let pump: Pump | null = null;
beforeEach(async () => {
  world = await openWorld(redis.url);
});
afterEach(async () => {
  await pump?.stop();
  await world.close();
});

const NOTHING: Due = { take: () => Promise.resolve([]) };

function poll(): Pump {
  return startPump({
    queues: world.queues,
    due: { deliveries: NOTHING, reports: createDueSets(world.redis).tows, violations: NOTHING, bulk: NOTHING },
    intervalMs: 20,
    progress: createProgress(systemClock),
    log: silentLog,
  });
}

const reportsKey = (part: string) => world.queues.byName.reports.toKey(part);

test.each([
  ['the list of waiting jobs', async () => world.redis.del(reportsKey('wait'))],
  [
    'every key of the queue',
    async () => {
      const keys = await world.redis.keys(`${reportsKey('')}*`);
      return world.redis.del(keys);
    },
  ],
])('a tow is woken again from the schedule when %s vanishes', async (_what, vanish) => {
  await world.redis.zadd(KEYS.dueTows, Date.now(), 'T1');
  pump = poll();
  await eventually(async () => expect(await world.redis.llen(reportsKey('wait'))).toBe(1));
  // Its mark has moved ahead, to come up again by itself.
  expect(Number(await world.redis.zscore(KEYS.dueTows, 'T1'))).toBeLessThanOrEqual(Date.now() + 10_000);
  await vanish();

  // As when that moment has come.
  await world.redis.zadd(KEYS.dueTows, Date.now(), 'T1');
  const worked: string[] = [];
  world.start((ref) => {
    worked.push(ref);
    return done('sent');
  });

  await eventually(() => expect(worked).toContain('T1'));
});
