import request from 'supertest';
import { messagesIn } from '../../src/console/messages';
import { createOperatorClient } from '../../src/demo/client';
import { checkWorkers } from '../../src/doctor/workers';
import { watchCalledService } from '../../src/main/worker';
import { accessDigests } from '../../src/service';
import { KEYS } from '../../src/store/keys';
import { createProcessStore } from '../../src/store/ops/processes';
import { signedIn, textOf } from '../console/visitor';
import { startFakeService } from '../service/fake-service';
import { eventually } from '../support/eventually';
import { readMetricsText } from '../support/metrics-text';
import { beatingProcess, NOTHING } from '../support/processes';
import { recordedLog } from '../support/recorded-log';
import { useRedis } from '../support/redis';
import { buildTown } from '../support/town';
import { callsOf, requestTow } from '../e2e/simulator-control';
import { useApps } from './apps';

const redis = useRedis();
const { start, stop } = useApps(redis);
const PLACE = { plate_number: 'ABC 1', towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.7 };

test('a worker with another service address takes no report, and reports leave once it has stopped', async () => {
  const town = await buildTown(redis.url);
  const [own, others] = [recordedLog(), recordedLog()];
  const other = await startFakeService();
  try {
    const app = await town.startInProcess({ BOOTSTRAP_API_KEY: 'bootstrap-key-of-the-tests' }, own.log);
    const client = createOperatorClient(app.consoleUrl, app.apiKey);
    const environment = { ...town.environment, SERVICE_BASE_URL: other.url };
    const forgotten = await start('worker', { environment, log: others.log });
    for (const { lines } of [own, others]) {
      await eventually(() => expect(lines.some(({ event }) => event === 'service.contradicted')).toBe(true));
    }
    const refs = await Promise.all(Array.from({ length: 4 }, () => requestTow(town)));
    for (const ref of refs) await eventually(async () => expect(await client.tow(ref)).not.toBeNull());
    for (const ref of refs) await client.recordFact(ref, 'started', PLACE);
    for (const ref of refs) {
      await eventually(async () =>
        expect(await client.tow(ref)).toMatchObject({ reports: [{ last_error: { message: 'services_differ' } }] }),
      );
    }

    const { opsAlarms } = messagesIn('en');
    const page = textOf((await (await signedIn(app)).get('/ops')).html);
    expect(page).toContain(opsAlarms.servicesDiffer.todo);
    expect(page).toContain('SERVICE_BASE_URL');
    expect(page).not.toContain('SERVICE_CLIENT_ID');
    const { text } = await request(app.opsUrl).get('/metrics').expect(200);
    const series = readMetricsText(text).find(({ name }) => name === 'towhook_services_differ');
    expect(series?.samples.map(({ value }) => value)).toEqual([1]);
    expect(await checkWorkers(app.foundation.redis)).toMatchObject({ state: 'fault', code: 'services_differ' });

    await stop(forgotten);
    await eventually(async () => expect(await callsOf(town, 'started')).toHaveLength(refs.length));
    expect(other.calls).toEqual([]);
  } finally {
    await other.stop();
  }
});

test('a killed worker with another client blocks nothing once its heartbeat has expired', async () => {
  const { log, lines } = recordedLog();
  const service = { baseUrl: 'http://127.0.0.1:1/parking/api', clientId: 'client-of-the-tests', clientSecret: '' };
  const killed = { role: 'worker', service: accessDigests({ ...service, paths: {}, clientId: 'another' }) } as const;
  const app = await start('worker', { log });
  const own = createProcessStore(app.foundation.redis);
  const contradicted = () => lines.filter(({ event }) => event === 'service.contradicted').length;

  await own.beat(beatingProcess('killed', killed), NOTHING);
  await eventually(() => expect(contradicted()).toBe(1));
  const line = lines.find(({ event }) => event === 'service.contradicted');
  expect(line).toMatchObject({ variables: ['SERVICE_CLIENT_ID'] });
  expect(line?.['hosts']).toContain('host-of-the-tests (process 17)');

  await redis.ask('ZINCRBY', KEYS.heartbeats, '-21000', 'killed');
  await eventually(async () => expect(await checkWorkers(app.foundation.redis)).toMatchObject({ state: 'fine' }));
});

test('a worker makes no call before it has seen which services the other workers call', async () => {
  const app = await start('console');
  const read = jest.spyOn(app.foundation.redis, 'hgetall').mockRejectedValueOnce(new Error('Command timed out'));
  const called = watchCalledService(app.foundation, Promise.resolve());
  try {
    expect(await called.isContradicted()).toBe(true);
    await eventually(async () => expect(await called.isContradicted()).toBe(false));
  } finally {
    read.mockRestore();
    await called.stop();
  }
});

test('a worker that has seen another service keeps blocking calls while the other worker may look silent although it runs', async () => {
  const { foundation } = await start('console');
  const redisOfWorker = foundation.redis;
  const service = accessDigests({ baseUrl: 'http://127.0.0.1:1/', clientId: 'another', clientSecret: '', paths: {} });
  await createProcessStore(redisOfWorker).beat(beatingProcess('other', { role: 'worker', service }), NOTHING);
  let areOthersKnown = true;
  const heartbeatGaps = { ...foundation.heartbeatGaps, areOthersKnown: () => areOthersKnown };
  const called = watchCalledService({ ...foundation, heartbeatGaps }, Promise.resolve());
  const reads = jest.spyOn(redisOfWorker, 'hgetall');
  const looksOfWorker = () => reads.mock.calls.filter(([key]) => key === KEYS.processes).length;
  try {
    expect(await called.isContradicted()).toBe(true);
    areOthersKnown = false;
    await redis.ask('ZINCRBY', KEYS.heartbeats, '-21000', 'other');
    const before = looksOfWorker();
    // The first of the two has ended by then.
    await eventually(() => expect(looksOfWorker()).toBeGreaterThan(before + 1));
    expect(await called.isContradicted()).toBe(true);

    areOthersKnown = true;
    await eventually(async () => expect(await called.isContradicted()).toBe(false));
  } finally {
    reads.mockRestore();
    await called.stop();
  }
});

test('a worker that starts while Redis is away calls after its first look', async () => {
  const { foundation } = await start('console');
  const heartbeatGaps = { ...foundation.heartbeatGaps, areOthersKnown: () => false };
  const called = watchCalledService({ ...foundation, heartbeatGaps }, Promise.resolve());
  try {
    expect(await called.isContradicted()).toBe(false);
  } finally {
    await called.stop();
  }
});

test('of two workers that start at once, the second to look sees the first', async () => {
  const { foundation } = await start('console');
  let announce = () => {};
  const announced = new Promise<void>((resolve) => {
    announce = resolve;
  });
  const called = watchCalledService(foundation, announced);
  try {
    // A look before this worker is announced would be answered before this.
    await foundation.redis.ping();
    const service = accessDigests({
      baseUrl: 'http://127.0.0.1:1/',
      clientId: 'another',
      clientSecret: '',
      paths: {},
    });
    await createProcessStore(foundation.redis).beat(beatingProcess('first', { role: 'worker', service }), NOTHING);
    announce();
    expect(await called.isContradicted()).toBe(true);
  } finally {
    await called.stop();
  }
});
