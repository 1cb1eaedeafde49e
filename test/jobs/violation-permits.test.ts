import { pause } from '../../src/platform/timers';
import { KEYS } from '../../src/store/keys';
import { enveloped, json } from '../service/fake-service';
import { useRedis } from '../support/redis';
import { readEntry } from '../support/stored-records';
import { startWorkerFor, type ViolationWorker } from './violation-world';

const redis = useRedis();
const workers: ViolationWorker[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
});

/** `limit` violations a minute. */
async function start(limit = 1): Promise<ViolationWorker> {
  const worker = await startWorkerFor(redis.url, { rateLimit: { limit, windowMs: 60_000 } });
  workers.push(worker);
  return worker;
}
const slotsTaken = ({ stores }: ViolationWorker) => stores.redis.llen('{towhook-main}:budget:violations');
const openGates = ({ stores }: ViolationWorker) => stores.redis.del(KEYS.circuits);

test('a violation exchanges its permit when a slow token arrives, and uses one in all', async () => {
  const worker = await start();
  await worker.reportWithImage();
  worker.fake.onTokenCall(async () => {
    await pause(1300);
    return enveloped({ token: 'slow' });
  });

  const startedAtMs = Date.now();
  expect(await worker.wake()).toBe('accepted');

  const [permitAtMs] = await worker.stores.redis.lrange('{towhook-main}:budget:violations', 0, -1);
  expect(Number(permitAtMs)).toBeGreaterThan(startedAtMs + 1200);
  expect([worker.fake.tokenCalls.length, worker.fake.calls.length, await slotsTaken(worker)]).toEqual([1, 1, 1]);
  expect(await worker.read()).toMatchObject({ attempts: 1, log: [{ outcome: 'accepted' }] });
});

test('a violation requests no token while one is valid', async () => {
  const worker = await start();
  await worker.reportWithImage('U1');
  await worker.wake('U1');
  await worker.stores.redis.del('{towhook-main}:budget:violations');
  await worker.reportWithImage('U2');

  expect(await worker.wake('U2')).toBe('accepted');
  expect(worker.fake.tokenCalls).toHaveLength(1);
});

test('a violation that waits for a permit requests no token', async () => {
  const [first, other] = [await start(), await start()];
  await first.reportWithImage('U1');
  await first.wake('U1');
  await other.reportWithImage('U2');

  expect(await other.wake('U2')).toBe('wait');
  expect(other.fake.tokenCalls).toEqual([]);
});

test('a violation without a token frees its permit for the next one', async () => {
  const worker = await start();
  await worker.reportWithImage('U1');
  await worker.reportWithImage('U2');
  worker.fake.onTokenCall(() => json({ message: 'Unauthorized' }, 401));

  expect(await worker.wake('U1')).toBe('hold');
  expect(worker.fake.tokenCalls).toHaveLength(1);
  expect(await worker.tasks()).toEqual(['connection']);
  expect(await worker.read('U1')).toMatchObject({ state: 'pending', attempts: 0 });
  expect(await slotsTaken(worker)).toBe(0);

  worker.fake.onTokenCall(() => enveloped({ token: 'good' }));
  await openGates(worker);
  expect(await worker.wake('U2')).toBe('accepted');
});

test('a violation uses no permit when the service is unreachable', async () => {
  const worker = await start();
  await worker.reportWithImage('U1');
  await worker.wake('U1');
  await worker.stores.redis.del('{towhook-main}:budget:violations');
  await worker.fake.stop();
  await worker.reportWithImage('U2');

  expect(await worker.wake('U2')).toBe('retry');
  const entry = await readEntry(worker.stores.redis, { violationId: 'U2' }, 1);
  expect(entry).toMatchObject({ state: 'pending', attempts: 1, failures: 1 });
  expect(await slotsTaken(worker)).toBe(0);
});

test('a violation that is refused with 401 twice uses a permit for each call', async () => {
  const worker = await start(2);
  await worker.reportWithImage();
  worker.fake.onCall(() => json({ message: 'Unauthorized' }, 401));

  expect(await worker.wake()).toBe('hold');
  expect([worker.fake.calls.length, await slotsTaken(worker)]).toEqual([2, 2]);
});
