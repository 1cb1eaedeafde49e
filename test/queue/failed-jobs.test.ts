import { Worker } from 'bullmq';
import { DAY_MS } from '../../src/domain/timestamp';
import { readQueueView } from '../../src/queue/queues';
import { PARTITION } from '../../src/store/keys';
import { useRedis } from '../support/redis';
import { openWorld, type World } from './queue-stage';

const redis = useRedis();
let world: World;
beforeEach(async () => {
  world = await openWorld(redis.url);
});
afterEach(() => world.close());

const noBacklog = () => Promise.resolve({ due: 0, oldestAgeMs: 0 });

/** Fails a job as BullMQ does with one that throws. */
async function failJob(): Promise<void> {
  await world.queues.add('reports', ['R1']);
  const worker = new Worker('reports', null, { connection: world.redis, prefix: PARTITION, skipVersionCheck: true });
  const job = await worker.getNextJob('token', { block: false });
  await job?.moveToFailed(new Error('a fault of towhook'), 'token');
  await worker.close();
}

test('a failed job is counted for 24 hours, so that its alarm ends, and is kept on the queue pages', async () => {
  const { reports } = world.queues.byName;
  const counted = async () => (await readQueueView(world.queues, noBacklog, 'reports')).failed;
  await failJob();
  expect(await counted()).toBe(1);

  const [job] = await reports.getFailed();
  await world.redis.zincrby(reports.toKey('failed'), -DAY_MS, job?.id ?? '');
  expect(await counted()).toBe(0);
  expect(await reports.getFailedCount()).toBe(1);
});
