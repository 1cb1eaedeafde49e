import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startTestRedis } from '../support/redis';
import { runProgram } from './command';
import { examined, SECRETS } from './examined';
import { deadAddress, startServer, startService } from './fake-service';
import { CREDENTIALS, useHouse } from './house';

jest.setTimeout(90_000);
const house = useHouse();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const examine = (changes?: Readonly<Record<string, string>>, words?: readonly string[]) =>
  examined(house(), changes, words);

/** Ends with the test. */
function closed<T extends { stop: () => Promise<unknown> }>(opened: T): T {
  closing.push(() => opened.stop());
  return opened;
}

interface Broken {
  readonly environment?: Readonly<Record<string, string>>;
  readonly words?: readonly string[];
}

/** Each way to break the set-up, and every fault that must be found then; no other may be. */
const BROKEN: Readonly<Record<string, readonly [faults: readonly string[], breaking: () => Promise<Broken>]>> = {
  'a wrong secret': [
    ['service_credentials_wrong'],
    async () => ({ environment: { SERVICE_CLIENT_SECRET: 'not-the-secret' } }),
  ],
  'credentials that are not set': [
    ['service_not_configured'],
    async () => ({ environment: { SERVICE_CLIENT_ID: '' } }),
  ],
  'a wrong path prefix of the service': [
    ['service_address_wrong'],
    async () => ({ environment: { SERVICE_BASE_URL: `${closed(await startService()).url}/parking` } }),
  ],
  'a service that is down': [
    ['service_unreachable'],
    async () => ({ environment: { SERVICE_BASE_URL: `${await deadAddress()}/parking/api` } }),
  ],
  'a service that fails': [
    ['service_failing'],
    async () => {
      const failing = closed(await startServer((_request, response) => response.writeHead(500).end('{}')));
      return { environment: { SERVICE_BASE_URL: failing.url } };
    },
  ],
  'a service whose clock is ten minutes ahead': [
    ['service_clock_skewed'],
    async () => {
      const ahead = closed(await startService({ aheadMs: 600_000 }));
      return { environment: { SERVICE_BASE_URL: `${ahead.url}/parking/api` } };
    },
  ],
  'a Redis that is down': [
    ['redis_unreachable'],
    async () => ({ environment: { REDIS_URL: (await deadAddress()).replace('http:', 'redis:') } }),
  ],
  'a Redis that hangs': [
    ['redis_unreachable'],
    async () => {
      const frozen = closed(await startTestRedis());
      frozen.freeze();
      return { environment: { REDIS_URL: frozen.url } };
    },
  ],
  'a web server in place of Redis': [
    ['redis_is_something_else'],
    async () => {
      const web = closed(await startServer((_request, response) => response.end('<html>no</html>')));
      return { environment: { REDIS_URL: web.url.replace('http:', 'redis:') } };
    },
  ],
  'a Redis without an append-only file': [
    ['redis_without_aof'],
    async () => ({ environment: { REDIS_URL: closed(await startTestRedis({ appendonly: 'no' })).url } }),
  ],
  'a Redis that evicts': [
    ['redis_evicts'],
    async () => ({
      environment: { REDIS_URL: closed(await startTestRedis({ 'maxmemory-policy': 'allkeys-lru' })).url },
    }),
  ],
  'a Redis that is a replica': [
    ['redis_refuses_writes'],
    async () => {
      const replica = closed(await startTestRedis());
      await replica.ask('REPLICAOF', '127.0.0.1', String(house().redis.port));
      return { environment: { REDIS_URL: replica.url } };
    },
  ],
  'a DATA_DIR that cannot be written': [
    ['data_dir_not_writable', 'disk_unusable'],
    async () => {
      const file = join(house().folder, 'a-file');
      await writeFile(file, '');
      return { environment: { DATA_DIR: join(file, 'data') } };
    },
  ],
  'a DATA_DIR where the system makes no folders': [
    ['data_dir_not_writable', 'disk_foreign'],
    // Where node's own making of folders never ends.
    async () => ({ environment: { DATA_DIR: '/proc/there-is-no-such-thing' } }),
  ],
  'a DATA_DIR on another disk than the one in use': [
    ['disk_foreign'],
    async () => {
      const other = join(house().folder, 'other');
      await mkdir(other);
      return { environment: { DATA_DIR: other } };
    },
  ],
  'a receiver that cannot be reached': [
    ['receiver_unreachable'],
    async () => ({ words: ['--webhook-url', await deadAddress()] }),
  ],
  'a public address that leads to the console': [
    ['receiver_not_towhook'],
    async () => ({ words: ['--webhook-url', house().app.consoleUrl] }),
  ],
  'variables that break their rules': [
    ['variable_invalid', 'variable_invalid'],
    async () => ({ environment: { SERVICE_TIMEOUT_MS: 'soon', VIOLATION_API: 'fax' } }),
  ],
  'an API key that cannot be sent': [
    ['api_key_unusable'],
    async () => ({ environment: { TOWHOOK_API_KEY: 'not-a-key\r' } }),
  ],
  'a wrong API key': [['api_key_wrong'], async () => ({ environment: { TOWHOOK_API_KEY: 'not-a-key' } })],
  'a console address that leads to the receiver': [
    ['console_not_towhook'],
    async () => ({ environment: { TOWHOOK_URL: house().app.receiverUrl } }),
  ],
  'a console that cannot be reached': [
    ['console_unreachable'],
    async () => ({ environment: { TOWHOOK_URL: await deadAddress() } }),
  ],
};

test('a healthy set-up has no faults and no warnings', async () => {
  const { exitCode, problems, report } = await examine();

  expect(report.findings.filter(({ state }) => state !== 'fine')).toEqual([]);
  expect(report).toMatchObject({ healthy: true, faults: 0, warnings: 0 });
  expect([exitCode, problems]).toEqual([0, '']);
  expect(new Set(report.findings.map(({ check }) => check))).toEqual(
    new Set('configuration,node,disk,redis,redis clock,images,service,service clock,receiver,console'.split(',')),
  );
});

test.each(Object.entries(BROKEN))(
  '%s is found, with what to fix, and nothing else',
  async (_name, [faults, breaking]) => {
    const { environment = {}, words = [] } = await breaking();

    const { exitCode, out, report } = await examine(environment, words);

    const found = report.findings.filter(({ state }) => state === 'fault');
    expect(found.map(({ code }) => code)).toEqual(faults);
    for (const { fix } of found) expect(fix).toMatch(/\w/);
    expect([exitCode, report.healthy]).toEqual([5, false]);
    for (const secret of [CREDENTIALS.clientSecret, 'not-the-secret', 'not-a-key', house().app.apiKey, 'a-token']) {
      expect(out).not.toContain(secret);
    }
  },
);

test('a fault in one variable names it and hides no other part of the set-up', async () => {
  const { report } = await examine({ RETRY_CAP_MS: 'long', SERVICE_CLIENT_SECRET: 'not-the-secret' });
  const found = report.findings.filter(({ state }) => state === 'fault');
  expect(found.map(({ code }) => code)).toEqual(['variable_invalid', 'service_credentials_wrong']);
  expect(found[0]?.what).toBe('RETRY_CAP_MS must be a number');
});

test('looking makes no disk the one in use; adopting does', async () => {
  const { redis, folder } = house();
  const other = join(folder, 'adopted');
  const before = await redis.ask('GET', '{p0}:spool-marker');

  expect((await examine({ DATA_DIR: other })).exitCode).toBe(5);
  expect(await redis.ask('GET', '{p0}:spool-marker')).toBe(before);
  expect((await examine({ DATA_DIR: other }, ['--adopt-disk'])).exitCode).toBe(0);
  expect((await examine({ DATA_DIR: other })).exitCode).toBe(0);
  expect((await examine()).report.findings.find(({ check }) => check === 'images')?.code).toBe('disk_foreign');
  await examine({}, ['--adopt-disk']);
  expect((await examine()).exitCode).toBe(0);
});

test('a disk that cannot be written is not adopted: the one in use stays in use', async () => {
  const { redis, folder } = house();
  const file = join(folder, 'no-folder');
  await writeFile(file, '');
  const before = await redis.ask('GET', '{p0}:spool-marker');

  const { exitCode, report } = await examine({ DATA_DIR: join(file, 'data') }, ['--adopt-disk']);

  expect([exitCode, report.findings.find(({ check }) => check === 'images')?.code]).toEqual([5, 'disk_unusable']);
  expect(await redis.ask('GET', '{p0}:spool-marker')).toBe(before);
});

test('people read one line per look, and what to fix below it', async () => {
  const environment = { ...house().environment, ...SECRETS, TOWHOOK_API_KEY: 'not-a-key' };
  const said = await runProgram(['doctor'], { environment });

  expect(said.exitCode).toBe(5);
  expect(said.out).toMatch(/^fault +console +answers, but does not accept the API key\n +fix: Set TOWHOOK_API_KEY/m);
  expect(said.out).toContain('1 faults, 0 warnings.');
  // oxlint-disable-next-line eslint/no-control-regex
  expect(said.out).not.toMatch(/\u001b/);
});
