import { Redis } from 'ioredis';
import { simulatorCalls } from '../../src/contracts/simulator';
import { playTows } from '../../src/main/demo/play';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown, type Town } from '../support/town';

jest.setTimeout(120_000);
const redis = useRedis();

const callsMade = async (town: Town) =>
  simulatorCalls.parse(await (await fetch(`${town.simulator.url}/simulator/calls`)).json()).items.length;

/** Every call takes a while, so that whatever is killed is in the middle of something. */
const SLOW = [{ operation: '*', fault: 'latency', ms: 30 }];

test('a worker killed with -9 in the middle of 100 tows loses nothing, and every tow finishes in order', async () => {
  const town = await buildTown(redis.url);
  await town.start('receiver');
  const desk = await town.start('console');
  const doomed = await town.start('worker', { WORKER_CONCURRENCY: '20' });
  const addresses = { consoleUrl: await desk.url('console'), simulatorUrl: town.simulator.url, apiKey: API_KEY };

  const playing = playTows(addresses, { tows: 100, faults: SLOW, paceMs: 10, timeLimitMs: 90_000 });
  await eventually(async () => expect(await callsMade(town)).toBeGreaterThan(120));
  doomed.kill('SIGKILL');
  await doomed.exited;
  const heir = await town.start('worker');
  const { findings, finished } = await playing;

  expect(finished).toBe(100);
  expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, problems: [] });
  expect(doomed.log.filter(({ message }) => message === 'report.attempted').length).toBeGreaterThan(20);
  expect(heir.log.filter(({ message }) => message === 'report.attempted').length).toBeGreaterThan(20);
});

test('with all queues thrown away in the middle, every tow finishes all the same', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all', { WORKER_CONCURRENCY: '10' });
  const addresses = { consoleUrl: await all.url('console'), simulatorUrl: town.simulator.url, apiKey: API_KEY };

  const playing = playTows(addresses, { tows: 60, faults: SLOW, paceMs: 10, timeLimitMs: 90_000 });
  await eventually(async () => expect(await callsMade(town)).toBeGreaterThan(60));
  const thrownAway = await throwQueuesAway(redis.url);
  const { findings, finished } = await playing;

  expect(thrownAway).toBeGreaterThan(0);
  expect(finished).toBe(60);
  expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, problems: [] });
});

async function throwQueuesAway(url: string): Promise<number> {
  const client = new Redis(url);
  const keys = (await Promise.all(['deliveries', 'reports'].map((name) => client.keys(`{p0}:${name}:*`)))).flat();
  const removed = keys.length > 0 ? await client.del(...keys) : 0;
  client.disconnect();
  return removed;
}
