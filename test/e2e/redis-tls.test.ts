import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOperatorClient } from '../../src/demo/client';
import { certificate } from '../service/connect-proxy';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';
import { startTlsFront, type TlsFront } from '../support/tls-front';
import { API_KEY, buildTown } from '../support/town';
import { requestTow } from './simulator-control';

const redis = useOwnRedis();
let folder = '';
let front: TlsFront;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-redis-tls-'));
  front = await startTlsFront(redis.port);
});
afterAll(async () => {
  await front.stop();
  await rm(folder, { recursive: true, force: true });
});

test('a process reaches Redis by TLS with a private authority, its own certificate, and a password from a file', async () => {
  await redis.ask('ACL', 'SETUSER', 'towhook', 'on', '>pass@word:1%2/?', '~*', '&*', '+@all');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, 'pass@word:1%2/?\n');
  const town = await buildTown(`rediss://towhook@127.0.0.1:${front.port}`);

  const app = await town.startInProcess({
    REDIS_PASSWORD_FILE: passwordFile,
    REDIS_CA_FILE: certificate('ca'),
    REDIS_CLIENT_CERT_FILE: certificate('client'),
    REDIS_CLIENT_KEY_FILE: certificate('client-key'),
    REDIS_TLS_SERVER_NAME: 'localhost',
    RECEIVER_PORT: '0',
    CONSOLE_PORT: '0',
  });

  const ref = await requestTow(town);
  const client = createOperatorClient(app.consoleUrl, API_KEY);
  await eventually(async () => expect((await client.tow(ref))?.state).toBe('requested'));
  const connections = String(await redis.ask('CLIENT', 'LIST'))
    .trim()
    .split('\n');
  const users = connections.map((line) => / user=(\S+)/.exec(line)?.[1]);
  // This test asks as the user default.
  expect(users.filter((user) => user !== 'towhook')).toEqual(['default']);
  expect(users.length).toBeGreaterThan(5);
});
