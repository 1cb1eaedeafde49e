import { Redis } from 'ioredis';
import { createOperatorClient } from '../../src/demo/client';
import { playTows } from '../../src/demo/play';
import { QUEUE_NAMES } from '../../src/domain/vocabulary';
import { eventually, inTime } from '../support/eventually';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown } from '../support/town';
import { callsAt, reportFaults, requestTow, setFaults } from './simulator-control';

jest.setTimeout(240_000);
const redis = useRedis();
/** The jobs are added again 10 s after the webhook was stored, by a poll every second at most. */
const LOST_JOB_COSTS_MS = 11_000;

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

test('a webhook whose job is lost is processed within 11 s', async () => {
  const town = await buildTown(redis.url);
  const console = await town.start('console');
  await town.start('receiver');
  const client = createOperatorClient(await console.url('console'), API_KEY);

  await inTime(LOST_JOB_COSTS_MS, async (startClock) => {
    startClock();
    const ref = await requestTow(town);
    await eventually(async () => expect(await redis.ask('DEL', '{towhook-main}:deliveries:wait')).toBe(1));
    const worker = await town.start('worker');
    await eventually(async () => expect(await client.tow(ref)).not.toBeNull());
    worker.kill('SIGTERM');
    await worker.exited;
  });
});

/** Deletes all keys of the queues and returns how many there were. Throws when no report job is active. */
async function deleteQueuesWithActiveReports(url: string): Promise<number> {
  const client = new Redis(url);
  try {
    const keys = (await Promise.all(QUEUE_NAMES.map((name) => client.keys(`{towhook-main}:${name}:*`)))).flat();
    expect(keys).toContain('{towhook-main}:reports:active');
    return await client.del(...keys);
  } finally {
    client.disconnect();
  }
}
