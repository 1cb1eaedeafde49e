import { readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deliver, newSecret, signed, towRequest } from '../receiver/calls';
import { startProcess } from '../support/process';
import { useOwnRedis } from '../support/redis';
import { text } from './compose-file';
import { readDockerfile, valuesOf } from './dockerfile';
import { readServices } from './engine/compose';

// The container refuses a Redis that can lose what was acknowledged.
const redis = useOwnRedis({ appendfsync: 'always' });

/** What the image sets. */
function imageEnvironment(): Record<string, string> {
  const text = readFileSync(join(__dirname, '..', '..', 'Dockerfile'), 'utf8');
  const pairs = readDockerfile(text).flatMap((stage) =>
    valuesOf(stage, 'ENV').flatMap((value) => value.match(/\S+=\S+/g) ?? []),
  );
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}

/** What the container of the receiver gets when `.env` sets these variables and no other. */
function containerEnvironment(variables: Readonly<Record<string, string>>): Record<string, string> {
  const service = { SERVICE_BASE_URL: 'http://service.example', SERVICE_CLIENT_ID: 'any' };
  const { receiver } = readServices(text, { ...service, ...variables }).services;
  const given = Object.entries(receiver?.environment ?? {}).map(([name, value]) => [name, value ?? variables[name]]);
  return Object.fromEntries(given.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

/** Loopback, free ports and the Redis of the test in place of those of the container; DATA_DIR is no folder there is. */
const here = () => ({
  REDIS_URL: redis.url,
  // The Redis of the test asks for none.
  REDIS_PASSWORD_FILE: '',
  HOST: '127.0.0.1',
  RECEIVER_PORT: '0',
  OPS_PORT: '0',
  DATA_DIR: '/dev/null/data',
});

test('the receiver of docker-compose.yml takes a signed webhook with nothing but its environment and no disk', async () => {
  const secret = newSecret();
  const file = join(await mkdtemp(join(tmpdir(), 'towhook-secrets-')), 'webhook_secrets');
  await writeFile(file, `${secret}\n`);
  const environment = { ...imageEnvironment(), ...containerEnvironment({ WEBHOOK_SECRETS_FILE: file }), ...here() };
  const receiver = await startProcess('receiver', environment);

  const body = JSON.stringify(towRequest());
  const url = await receiver.url('receiver');
  await deliver(url, '/tow-request', body, signed(body, { secret })).expect(200);
  await deliver(url, '/tow-request', body).expect(401);
  const ready = await fetch(`${await receiver.url('ops')}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([200, { redis_warnings: [] }]);
});

test('the receiver of docker-compose.yml does not start without a secret of webhooks', async () => {
  const environment = { ...imageEnvironment(), ...containerEnvironment({ WEBHOOK_SECRETS_FILE: '' }), ...here() };
  const receiver = await startProcess('receiver', environment);

  await expect(Promise.race([receiver.exited, receiver.logged('receiver.listening')])).resolves.toBe(2);
  expect(receiver.problems()).toContain('WEBHOOK_SECRETS is required');
});
