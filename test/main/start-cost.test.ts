import request from 'supertest';
import { startApp } from '../support/app';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { openStores } from '../support/stores';

const redis = useRedis();

/** Requests tows until there are `count`. */
async function tows(from: number, count: number): Promise<void> {
  const stores = await openStores(redis.url);
  await Promise.all(Array.from({ length: count - from }, (_, at) => stores.request(`T-${from + at}`)));
  stores.close();
}

/** How many times the fields of a record were read while a console started and showed its first page. */
async function readsOfStart(): Promise<number> {
  await redis.ask('CONFIG', 'RESETSTAT');
  const app = await startApp({ redisUrl: redis.url, role: 'console' });
  try {
    await eventually(() =>
      request(app.consoleUrl).get('/api/tows?limit=1').set('authorization', `Bearer ${app.apiKey}`).expect(200),
    );
    const stats = String(await redis.ask('INFO', 'commandstats'));
    const calls = [...stats.matchAll(/^cmdstat_(?:hgetall|hmget):calls=(\d+)/gm)].map(([, count]) => Number(count));
    return calls.reduce((sum, count) => sum + count, 0);
  } finally {
    await app.stop();
  }
}

test('a console that starts beside 400 tows reads no more records than beside 20', async () => {
  await tows(0, 20);
  const beside20 = await readsOfStart();
  await tows(20, 400);
  // Half of the new tows: what a process reads every few seconds may fall into one start and not into the other.
  expect(await readsOfStart()).toBeLessThan(beside20 + 190);
});
