import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRole, type ProcessRole } from '../../src/main/roles';
import { loadConfig } from '../../src/platform/config/config';
import { startProcess } from '../support/process';
import { recordedLog } from '../support/recorded-log';
import { useRedis } from '../support/redis';

const redis = useRedis();
const SECRET = `whsec_${Buffer.alloc(24, 'k').toString('base64')}`;
const SHARED_SECRET = 'a-shared-secret-of-the-tests';

let dataDir = '';
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'towhook-proof-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

/** A complete environment in which only the proof of webhooks is left open. */
const environment = () => ({
  REDIS_URL: redis.url,
  DATA_DIR: dataDir,
  SERVICE_BASE_URL: 'http://127.0.0.1:1/parking/api',
  SERVICE_CLIENT_ID: 'client-of-the-tests',
  SERVICE_CLIENT_SECRET: 'secret-of-the-tests',
  RECEIVER_PORT: '0',
  CONSOLE_PORT: '0',
  STOP_GRACE_MS: '500',
});

/** Starts a role, stops it, and returns the lines of its log about unverified webhooks, or another event. */
async function warningsOf(role: ProcessRole, changes: Readonly<Record<string, string>>, named = 'receiver.unverified') {
  const { log, lines } = recordedLog();
  const config = loadConfig({ ...environment(), ...changes });
  const resources = await startRole(role, { config, log, onStall: () => {} });
  await resources.closeAll();
  return lines.filter(({ event }) => event === named);
}

describe.each(['receiver', 'all'] as const)('webhook secrets of the role %s', (role) => {
  const NODE_ENV = 'production';

  test.each([
    ['without a secret', {}, 'WEBHOOK_SECRETS', ['/tow-request', '/tow/invoice']],
    [
      'with secrets of tow requests alone',
      { WEBHOOK_SECRETS_TOW_REQUEST: SECRET },
      'WEBHOOK_SECRETS_TOW_INVOICE',
      ['/tow/invoice'],
    ],
    [
      'with secrets of invoices alone',
      { WEBHOOK_SECRETS_TOW_INVOICE: SECRET },
      'WEBHOOK_SECRETS_TOW_REQUEST',
      ['/tow-request'],
    ],
  ])(`in production the role ${role} does not start %s`, async (_case, secrets, variable, paths) => {
    const starting = warningsOf(role, { NODE_ENV, ...secrets });

    const rule = `is required when NODE_ENV is production: nothing verifies webhooks on ${paths.join(' and ')}; or set WEBHOOK_SHARED_SECRET and WEBHOOK_SHARED_SECRET_HEADER, or WEBHOOK_UNVERIFIED=accept to accept them from anyone`;
    await expect(starting).rejects.toMatchObject({ name: 'ConfigurationError', faults: [{ variable, rule }] });
  });

  test.each([
    ['secrets of both', { WEBHOOK_SECRETS: SECRET }],
    ['a secret of each path', { WEBHOOK_SECRETS_TOW_REQUEST: SECRET, WEBHOOK_SECRETS_TOW_INVOICE: SECRET }],
    ['a shared secret', { WEBHOOK_SHARED_SECRET: SHARED_SECRET, WEBHOOK_SHARED_SECRET_HEADER: 'x-hook' }],
  ])(`in production the role ${role} starts without a warning with %s`, async (_case, secrets) => {
    expect(await warningsOf(role, { NODE_ENV, ...secrets })).toEqual([]);
  });

  test(`in production the role ${role} starts with WEBHOOK_UNVERIFIED=accept and warns of each unverified path`, async () => {
    const accepting = { NODE_ENV, WEBHOOK_UNVERIFIED: 'accept' };

    expect(await warningsOf(role, accepting)).toMatchObject([
      { level: 'warn', open_paths: ['/tow-request', '/tow/invoice'] },
    ]);
    expect(await warningsOf(role, { ...accepting, WEBHOOK_SECRETS_TOW_REQUEST: SECRET })).toMatchObject([
      { level: 'warn', open_paths: ['/tow/invoice'] },
    ]);
  });
});

test('the worker and the console start without a webhook secret in production', async () => {
  expect(await warningsOf('worker', { NODE_ENV: 'production' })).toEqual([]);
  expect(await warningsOf('console', { NODE_ENV: 'production' })).toEqual([]);
});

test('in development the receiver starts without a secret and warns of each unverified path', async () => {
  expect(await warningsOf('receiver', {})).toMatchObject([{ open_paths: ['/tow-request', '/tow/invoice'] }]);
  const half = { WEBHOOK_SECRETS_TOW_INVOICE: SECRET };
  expect(await warningsOf('receiver', half)).toMatchObject([{ open_paths: ['/tow-request'] }]);
  expect(await warningsOf('receiver', { WEBHOOK_SECRETS: SECRET })).toEqual([]);
});

test('a receiver process without a secret ends with exit code 2 in production', async () => {
  const started = await startProcess('receiver', { REDIS_URL: redis.url, NODE_ENV: 'production' });

  await expect(Promise.race([started.exited, started.logged('receiver.listening')])).resolves.toBe(2);
  expect(started.problems()).toContain('WEBHOOK_SECRETS is required when NODE_ENV is production');
});

test('a role that starts with a mistyped variable logs a warning with the one that may be meant', async () => {
  const mistyped = { RECEIVER_PROT: '1', SERVICE_MODE: 'shadow' };
  expect(await warningsOf('receiver', mistyped, 'configuration.unknown_variables')).toMatchObject([
    { level: 'warn', variables: ['RECEIVER_PROT (RECEIVER_PORT?)'] },
  ]);
});

test('a process with SERVICE_MOD=shadow ends with exit code 2 instead of sending', async () => {
  const started = await startProcess('worker', { REDIS_URL: redis.url, SERVICE_MOD: 'shadow' });

  await expect(Promise.race([started.exited, started.logged('process.started')])).resolves.toBe(2);
  expect(started.problems()).toContain('SERVICE_MOD is no variable of towhook');
});

test('the private /readyz of a receiver names the unverified paths', async () => {
  const started = await startProcess('receiver', { REDIS_URL: redis.url, WEBHOOK_SECRETS_TOW_REQUEST: SECRET });

  const ready = await fetch(`${await started.url('ops')}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([200, { unverified_webhooks: ['/tow/invoice'] }]);
});
