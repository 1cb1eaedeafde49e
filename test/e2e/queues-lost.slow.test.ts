import { Redis } from 'ioredis';
import { playTows } from '../../src/demo/play';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { buildTown } from '../support/town';
import { callsAt, reportFaults, setFaults } from './simulator-control';

jest.setTimeout(240_000);
const redis = useRedis();

test('every tow finishes in order after all keys of the job queues are deleted while calls are under way', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all', { WORKER_CONCURRENCY: '10' });

  const slowCalls = reportFaults({ fault: 'latency', ms: 30 });
  const options = { tows: 60, faults: slowCalls, paceMs: 10, timeLimitMs: 200_000 };
  const playing = playTows(await town.addressesOf(all), options);
  await eventually(async () => expect((await callsAt(town)).length).toBeGreaterThan(60));
  // Calls that take seconds keep jobs active until the keys are deleted.
  await setFaults(town, reportFaults({ fault: 'latency', ms: 3000 }));
  const deleted = await eventually(() => deleteQueuesWithActiveReports(redis.url));
  await setFaults(town, slowCalls);
  const { findings, finished } = await playing;

  expect(deleted).toBeGreaterThan(0);
  expect(finished).toBe(60);
  expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, problems: [] });
});

/** Deletes all keys of the queues and returns how many there were. Throws when no report job is active. */
async function deleteQueuesWithActiveReports(url: string): Promise<number> {
  const client = new Redis(url);
  try {
    const keys = (
      await Promise.all(['deliveries', 'reports'].map((name) => client.keys(`{towhook-main}:${name}:*`)))
    ).flat();
    expect(keys).toContain('{towhook-main}:reports:active');
    return await client.del(...keys);
  } finally {
    client.disconnect();
  }
}
