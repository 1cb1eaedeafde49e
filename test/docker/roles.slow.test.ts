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
import { PROJECT } from '../support/project';

// The container refuses a Redis that can lose what was acknowledged.
const redis = useOwnRedis({ appendfsync: 'always' });

/** What the image sets. */
function imageEnvironment(): Record<string, string> {
  const text = readFileSync(join(PROJECT, 'Dockerfile'), 'utf8');
  const pairs = readDockerfile(text).flatMap((stage) =>
    valuesOf(stage, 'ENV').flatMap((value) => value.match(/\S+=\S+/g) ?? []),
  );
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}

/** What the container of a role gets when `.env` sets these variables and no other. */
function containerEnvironment(role: string, variables: Readonly<Record<string, string>>): Record<string, string> {
  const service = { SERVICE_BASE_URL: 'http://127.0.0.1:1/service', SERVICE_CLIENT_ID: 'any' };
  const found = readServices(text, { ...service, ...variables }).services[role];
  const given = Object.entries(found?.environment ?? {}).map(([name, value]) => [name, value ?? variables[name]]);
  return Object.fromEntries(given.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

/** A file with a secret, in place of one of the container. */
async function secretFile(secret: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'towhook-secrets-')), 'secret');
  await writeFile(file, `${secret}\n`);
  return file;
}

/** Loopback, free ports and the Redis of the test in place of those of the container. */
const here = () => ({
  REDIS_URL: redis.url,
  // The Redis of the test asks for none.
  REDIS_PASSWORD_FILE: '',
  HOST: '127.0.0.1',
  RECEIVER_PORT: '0',
  OPS_PORT: '0',
});
/** DATA_DIR is no folder that there can be. */
const withoutDisk = () => ({ ...here(), DATA_DIR: '/dev/null/data' });

test('the receiver of docker-compose.yml takes a signed webhook with nothing but its environment and no disk', async () => {
  const secret = newSecret();
  const given = containerEnvironment('receiver', { WEBHOOK_SECRETS_FILE: await secretFile(secret) });
  const receiver = await startProcess('receiver', { ...imageEnvironment(), ...given, ...withoutDisk() });

  const body = JSON.stringify(towRequest());
  const url = await receiver.url('receiver');
  await deliver(url, '/tow-request', body, signed(body, { secret })).expect(200);
  await deliver(url, '/tow-request', body).expect(401);
  const ready = await fetch(`${await receiver.url('ops')}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([200, { redis_warnings: [] }]);
});

test('the receiver of docker-compose.yml does not start without a secret of webhooks', async () => {
  const given = containerEnvironment('receiver', { WEBHOOK_SECRETS_FILE: '' });
  const receiver = await startProcess('receiver', { ...imageEnvironment(), ...given, ...withoutDisk() });

  await expect(Promise.race([receiver.exited, receiver.logged('receiver.listening')])).resolves.toBe(2);
  expect(receiver.problems()).toContain('WEBHOOK_SECRETS is required');
});

test('the worker of docker-compose.yml starts with no secret but those of Redis and of the service', async () => {
  const given = containerEnvironment('worker', {});
  const files = Object.keys(given).filter((name) => given[name]?.startsWith('/run/secrets/'));
  expect(files).toEqual(['REDIS_PASSWORD_FILE', 'SERVICE_CLIENT_SECRET_FILE']);
  const places = {
    SERVICE_CLIENT_SECRET_FILE: await secretFile('secret-of-the-client'),
    DATA_DIR: await mkdtemp(join(tmpdir(), 'towhook-data-')),
  };
  const worker = await startProcess('worker', { ...imageEnvironment(), ...given, ...here(), ...places });

  await worker.logged('worker.started');
  const ready = await fetch(`${await worker.url('ops')}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([200, { redis_warnings: [] }]);
});
