import { openFoundation, type Foundation } from '../../src/main/foundation';
import { createOperatorClient } from '../../src/demo/client';
import { startRetention } from '../../src/main/worker';
import { loadConfig } from '../../src/platform/config/config';
import { silentLog } from '../../src/platform/log/log';
import { idsIn, useDataDir } from '../archive/folder';
import { signedIn, textOf } from '../console/visitor';
import { bodyOf, deliver, towRequest } from '../receiver/calls';
import { eventually } from '../support/eventually';
import { holdAnswers } from '../support/proxy';
import { useOwnRedis } from '../support/redis';
import { createReleasedTow } from '../support/retention';
import { openStores, START } from '../support/stores';
import { API_KEY, buildTown } from '../support/town';
import { callsOf, requestTow } from './simulator-control';

jest.setTimeout(240_000);
const redis = useOwnRedis();
const dataDir = useDataDir();
const opened: Foundation[] = [];

/** Far less than an empty Redis uses: no write that needs memory succeeds until the limit is lifted. */
const fill = () => redis.ask('CONFIG', 'SET', 'maxmemory', '100kb', 'maxmemory-policy', 'noeviction');
const expectFull = async () => expect(await redis.ask('SET', 'any', '1').catch(String)).toMatch(/OOM/);

afterEach(async () => {
  for (const foundation of opened.splice(0)) await foundation.resources.closeAll();
  await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
});

test('a process started while Redis is full archives finished tows and deletes them from Redis', async () => {
  const stores = await openStores(redis.url);
  try {
    await createReleasedTow(stores, 'T1');
    await stores.request('T2');
    await fill();
    const environment = { KEEP_DELIVERIES_HOURS: '0', KEEP_TOWS_HOURS: '0', KEEP_AUDIT_HOURS: '0' };
    const config = loadConfig({ REDIS_URL: redis.url, DATA_DIR: dataDir.path, ...environment });
    const foundation = await openFoundation({ config, log: silentLog });
    opened.push(foundation);
    startRetention(foundation, 20);

    await eventually(async () => expect(await stores.tows.read('T1')).toBeNull());
    await eventually(async () => expect(await stores.deliveries.read('request-T1')).toBeNull());
    expect(await idsIn(dataDir.path, { type: 'tow' })).toEqual(['T1']);
    // A tow that is not finished stays, and takes no new work.
    await expect(stores.say('T2', START)).rejects.toThrow(/OOM/);
    await expectFull();
  } finally {
    stores.close();
  }
});

test('a report that is answered while Redis is full is accepted, and webhooks are answered with 503', async () => {
  const town = await buildTown(redis.url);
  const answers = await holdAnswers(town.simulator.url, 'started');
  const app = await town.startInProcess({ SERVICE_BASE_URL: answers.url });
  const client = createOperatorClient(app.consoleUrl, API_KEY);
  const ref = await requestTow(town);
  await eventually(async () => expect(await client.tow(ref)).not.toBeNull());
  const place = { towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.7 };
  await client.recordFact(ref, 'started', { plate_number: 'ABC 1', ...place });
  await eventually(async () => expect(await callsOf(town, 'started')).toHaveLength(1));

  await fill();
  answers.release();

  await eventually(async () => {
    const tow = await client.tow(ref);
    expect(tow?.reports).toMatchObject([{ kind: 'started', state: 'accepted', attempts: 1, in_flight: false }]);
  });
  const refused = await deliver(app.receiverUrl, '/tow-request', towRequest());
  expect([refused.status, bodyOf(refused).code]).toEqual([503, 'not_stored']);
  await expectFull();
  expect(await callsOf(town, 'started')).toHaveLength(1);
});

test('the operations page names a full Redis as the reason for which a process is not ready', async () => {
  const app = await (await buildTown(redis.url)).startInProcess();
  const visitor = await signedIn(app, API_KEY);
  await fill();

  await eventually(async () => {
    // The first heartbeat of the process may be under way, with what it checked before.
    await app.sendHeartbeat();
    expect(textOf((await visitor.get('/ops')).html)).toContain(' is not ready: redis');
  });
});
