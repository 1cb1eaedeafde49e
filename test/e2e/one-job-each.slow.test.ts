import { z } from 'zod';
import { createOperatorClient, type OperatorClient } from '../../src/demo/client';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown, type Town } from '../support/town';
import { callsOf, requestTow, requestTows } from './simulator-control';

jest.setTimeout(240_000);
const redis = useRedis();

const ALONE = 5;
const TOGETHER = 60;
const PLACE = { plate_number: 'ABC 1', towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.7 };

const strings = z.array(z.string());
const key = (name: string) => `{towhook-main}:${name}`;
const range = async (command: 'LRANGE' | 'ZRANGE', name: string) =>
  strings.parse(await redis.ask(command, key(name), '0', '-1'));

/** What the jobs of a state name, one list for each job. */
async function jobsIn(queue: 'deliveries' | 'reports', state: 'wait' | 'completed'): Promise<string[][]> {
  const jobs = await range(state === 'wait' ? 'LRANGE' : 'ZRANGE', `${queue}:${state}`);
  const data = await Promise.all(jobs.map((id) => redis.ask('HGET', key(`${queue}:${id}`), 'data')));
  return data.map((text) =>
    Object.values(z.record(z.string(), z.unknown()).parse(JSON.parse(String(text))))
      .flat()
      .map(String),
  );
}

const untilDelivered = (count: number) =>
  eventually(async () => expect(await range('ZRANGE', 'index:deliveries')).toHaveLength(count));
const untilDrained = (queue: 'deliveries' | 'reports') =>
  eventually(async () => expect(await range('LRANGE', `${queue}:wait`)).toEqual([]));

/** A town whose scripts Redis knows: one tow has passed through all of it. Its worker is stopped. */
async function openTown() {
  const town = await buildTown(redis.url);
  const console = await town.start('console');
  await town.start('receiver');
  const client = createOperatorClient(await console.url('console'), API_KEY);
  const ref = await requestTow(town);
  await whileWorking(town, async () => {
    await eventually(async () => expect(await client.tow(ref)).not.toBeNull());
    await client.recordFact(ref, 'started', PLACE);
    await untilAccepted(client, ref);
  });
  return { town, client };
}

async function whileWorking(town: Town, action: () => Promise<unknown>): Promise<void> {
  const worker = await town.start('worker');
  await action();
  worker.kill('SIGTERM');
  expect(await worker.exited).toBe(0);
}

const untilAccepted = (client: OperatorClient, ref: string) =>
  eventually(async () => expect((await client.tow(ref))?.reports[0]?.state).toBe('accepted'));

test('each webhook and each fact, alone or in a rush, is named by exactly one job that is added for it, and passes through a job', async () => {
  const { town, client } = await openTown();
  const before = await range('ZRANGE', 'index:deliveries');
  await untilDrained('deliveries');

  // Without a worker nothing adds a second job, and nothing takes one.
  const refs: string[] = [];
  for (let count = 1; count <= ALONE; count += 1) {
    refs.push(await requestTow(town));
    await untilDelivered(before.length + count);
    await eventually(async () => expect(await range('LRANGE', 'deliveries:wait')).toHaveLength(count));
  }
  refs.push(...(await requestTows(town, { count: TOGETHER })));
  await untilDelivered(before.length + ALONE + TOGETHER);
  const deliveries = (await range('ZRANGE', 'index:deliveries')).filter((id) => !before.includes(id));
  await eventually(async () => {
    const named = (await jobsIn('deliveries', 'wait')).flat();
    expect(named.toSorted()).toEqual(deliveries.toSorted());
  });

  await whileWorking(town, () =>
    eventually(async () => {
      expect(await Promise.all(refs.map((ref) => client.tow(ref)))).not.toContain(null);
      expect(new Set((await jobsIn('deliveries', 'completed')).flat())).toEqual(new Set([...before, ...deliveries]));
    }),
  );
  await untilDrained('reports');

  for (const [place, ref] of refs.slice(0, ALONE).entries()) {
    await client.recordFact(ref, 'started', PLACE);
    await eventually(async () => expect(await range('LRANGE', 'reports:wait')).toHaveLength(place + 1));
  }
  await Promise.all(refs.slice(ALONE).map((ref) => client.recordFact(ref, 'started', PLACE)));
  await eventually(async () => {
    const jobs = await jobsIn('reports', 'wait');
    expect(jobs.map((named) => named.join()).toSorted()).toEqual(refs.toSorted());
  });

  await whileWorking(town, async () => {
    await Promise.all(refs.map((ref) => untilAccepted(client, ref)));
    await eventually(async () =>
      expect((await jobsIn('reports', 'completed')).flat()).toEqual(expect.arrayContaining(refs)),
    );
  });
  expect(await callsOf(town, 'started')).toHaveLength(1 + ALONE + TOGETHER);
});
