import { createOperatorClient } from '../../src/demo/client';
import { lastingPort } from '../support/lasting-port';
import { certificate } from '../service/connect-proxy';
import { eventually } from '../support/eventually';
import { recordedLog } from '../support/recorded-log';
import { startTestRedis, type TestRedis } from '../support/redis-server';
import { makeReplica, MASTER_NAME, startSentinels, type Sentinels } from '../support/sentinels';
import { API_KEY, buildTown } from '../support/town';
import { requestTow } from './simulator-control';

jest.setTimeout(200_000);

/** Of servers and Sentinels: they show a certificate, ask for one, and talk by TLS to each other. */
const TLS = {
  'tls-cert-file': certificate('server'),
  'tls-key-file': certificate('server-key'),
  'tls-ca-cert-file': certificate('ca'),
  'tls-auth-clients': 'yes',
  'tls-replication': 'yes',
};
const CLIENT = {
  REDIS_CA_FILE: certificate('ca'),
  REDIS_CLIENT_CERT_FILE: certificate('client'),
  REDIS_CLIENT_KEY_FILE: certificate('client-key'),
};

let servers: { readonly redis: TestRedis; readonly tlsPort: number }[] = [];
let sentinels: Sentinels;

beforeAll(async () => {
  servers = await Promise.all(
    [1, 2].map(async () => {
      const tlsPort = await lastingPort();
      return { tlsPort, redis: await startTestRedis({ ...TLS, 'tls-port': String(tlsPort) }) };
    }),
  );
  const [master, replica] = servers;
  if (!master || !replica) throw new Error('no servers');
  await makeReplica(replica.redis, master.tlsPort);
  sentinels = await startSentinels(master.tlsPort, 3, TLS);
  await sentinels.untilAllKnown(1);
});
afterAll(async () => {
  await sentinels.stop();
  await Promise.all(servers.map(({ redis }) => redis.stop()));
});

test('a process finds the master at Sentinels by TLS with a client certificate, and follows it after a failover', async () => {
  const town = await buildTown(`rediss://${MASTER_NAME}`);
  const app = await town.startInProcess({
    ...CLIENT,
    REDIS_SENTINELS: sentinels.list,
    RECEIVER_PORT: '0',
    CONSOLE_PORT: '0',
  });
  const client = createOperatorClient(app.consoleUrl, API_KEY);
  const towFrom = async () => {
    const ref = await eventually(() => requestTow(town), 60_000);
    await eventually(async () => expect((await client.tow(ref))?.state).toBe('requested'), 60_000);
  };
  await towFrom();

  const firstPort = await sentinels.masterPort();
  await servers.find(({ tlsPort }) => tlsPort === firstPort)?.redis.kill();
  await eventually(async () => expect(await sentinels.masterPort()).not.toBe(firstPort), 60_000);
  await towFrom();
  const survivor = servers.find(({ tlsPort }) => tlsPort !== firstPort)?.redis;
  expect(String(await survivor?.ask('INFO', 'replication'))).toContain('role:master');
});

test('a process without the authority of the Sentinels is not ready, and logs that it finds none', async () => {
  const town = await buildTown(`rediss://${MASTER_NAME}`);
  const { log, lines } = recordedLog();
  const app = await town.startInProcess(
    { REDIS_SENTINELS: sentinels.list, RECEIVER_PORT: '0', CONSOLE_PORT: '0' },
    log,
  );

  expect((await fetch(`${app.opsUrl}/readyz`)).status).toBe(503);
  // The client library hides the cause, a certificate of an unknown authority.
  const errors = lines.filter(({ event }) => event === 'redis.failed').map(({ error }) => String(error));
  expect(errors.join('\n')).toContain('All sentinels are unreachable');
});
