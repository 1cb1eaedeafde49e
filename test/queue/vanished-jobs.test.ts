import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createWorkerProgress } from '../../src/queue/supervise';
import { startScheduler, type DueWork, type Scheduler } from '../../src/queue/scheduler';
import { createSchedules, waitsUntilDue } from '../../src/store/outbox/schedules';
import { KEYS } from '../../src/store/keys';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { done, openWorld, type World } from './queue-stage';

const redis = useRedis();
let world: World;
let scheduler: Scheduler | null = null;
beforeEach(async () => {
  world = await openWorld(redis.url);
});
afterEach(async () => {
  await scheduler?.stop();
  await world.close();
});

const NOTHING: DueWork = { pollDue: () => Promise.resolve([]) };

function poll(): Scheduler {
  return startScheduler({
    queues: world.queues,
    schedules: {
      deliveries: NOTHING,
      reports: createSchedules(world.redis).reports,
      violations: NOTHING,
      runs: NOTHING,
      subscriptions: NOTHING,
    },
    waitsUntilDue: () => waitsUntilDue(world.redis),
    intervalMs: 20,
    progress: createWorkerProgress(systemClock),
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
])('a tow is queued again by its schedule after the loss of %s', async (_what, vanish) => {
  await world.redis.zadd(KEYS.dueTows, Date.now(), 'T1');
  scheduler = poll();
  await eventually(async () => expect(await world.redis.llen(reportsKey('wait'))).toBe(1));
  // The tow was rescheduled, to become due again by itself.
  expect(Number(await world.redis.zscore(KEYS.dueTows, 'T1'))).toBeLessThanOrEqual(Date.now() + 10_000);
  await vanish();

  // As if that time had come.
  await world.redis.zadd(KEYS.dueTows, Date.now(), 'T1');
  const worked: string[] = [];
  world.start((ref) => {
    worked.push(ref);
    return done('sent');
  });

  await eventually(() => expect(worked).toContain('T1'));
});
