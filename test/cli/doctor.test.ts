import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startTestRedis } from '../support/redis';
import { runProgram } from './command';
import { environmentOf, examineHere, examineInProcess, type Change, type Examined } from './examine';
import { deadAddress, startServer, startService } from './fake-service';
import { CREDENTIALS, useInstallation } from './installation';

jest.setTimeout(90_000);
const installation = useInstallation();
const opened: { stop: () => Promise<unknown> }[] = [];
afterAll(() => Promise.all(opened.map((resource) => resource.stop())));

/** Stops a resource after the last test. */
function stopLater<T extends { stop: () => Promise<unknown> }>(resource: T): T {
  opened.push(resource);
  return resource;
}

const examine = (environment?: Change['environment'], words?: Change['words']) =>
  examineHere(installation(), { ...(environment && { environment }), ...(words && { words }) });

/** A way to break the set-up and the codes of all faults that the doctor must report then. */
interface Breakage {
  readonly cause: string;
  readonly faults: readonly string[];
  readonly change: () => Promise<Change>;
}

const named = (breakages: readonly Breakage[]) =>
  breakages.map((breakage) => [breakage.faults.join(', '), breakage.cause, breakage] as const);

const BREAKAGES: readonly Breakage[] = [
  {
    cause: 'a wrong secret',
    faults: ['service_credentials_wrong'],
    change: async () => ({ environment: { SERVICE_CLIENT_SECRET: 'not-the-secret' } }),
  },
  {
    cause: 'credentials that are not set',
    faults: ['service_not_configured'],
    change: async () => ({ environment: { SERVICE_CLIENT_ID: '' } }),
  },
  {
    cause: 'a wrong path prefix of the service',
    faults: ['service_address_wrong'],
    change: async () => ({ environment: { SERVICE_BASE_URL: `${stopLater(await startService()).url}/parking` } }),
  },
  {
    cause: 'a service that is down',
    faults: ['service_unreachable'],
    change: async () => ({ environment: { SERVICE_BASE_URL: `${await deadAddress()}/parking/api` } }),
  },
  {
    cause: 'a service that fails',
    faults: ['service_failing'],
    change: async () => {
      const failing = stopLater(await startServer((_request, response) => response.writeHead(500).end('{}')));
      return { environment: { SERVICE_BASE_URL: failing.url } };
    },
  },
  {
    cause: 'a service whose clock is ten minutes ahead',
    faults: ['service_clock_skewed'],
    change: async () => {
      const ahead = stopLater(await startService({ aheadMs: 600_000 }));
      return { environment: { SERVICE_BASE_URL: `${ahead.url}/parking/api` } };
    },
  },
  {
    cause: 'a Redis without an append-only file',
    faults: ['redis_without_aof'],
    change: async () => ({ environment: { REDIS_URL: stopLater(await startTestRedis({ appendonly: 'no' })).url } }),
  },
  {
    cause: 'a Redis that evicts',
    faults: ['redis_evicts'],
    change: async () => ({
      environment: { REDIS_URL: stopLater(await startTestRedis({ 'maxmemory-policy': 'allkeys-lru' })).url },
    }),
  },
  {
    cause: 'a Redis that is a replica',
    faults: ['redis_refuses_writes'],
    change: async () => {
      const replica = stopLater(await startTestRedis());
      await replica.ask('REPLICAOF', '127.0.0.1', String(installation().redis.port));
      return { environment: { REDIS_URL: replica.url } };
    },
  },
  {
    cause: 'a DATA_DIR that cannot be written',
    faults: ['data_dir_not_writable', 'disk_unusable'],
    change: async () => {
      const file = join(installation().folder, 'a-file');
      await writeFile(file, '');
      return { environment: { DATA_DIR: join(file, 'data') } };
    },
  },
  {
    cause: 'a DATA_DIR where the system makes no folders',
    faults: ['data_dir_not_writable', 'disk_foreign'],
    // Node's recursive mkdir never returns there.
    change: async () => ({ environment: { DATA_DIR: '/proc/there-is-no-such-thing' } }),
  },
  {
    cause: 'a DATA_DIR on another disk than the one in use',
    faults: ['disk_foreign'],
    change: async () => {
      const other = join(installation().folder, 'other');
      await mkdir(other);
      return { environment: { DATA_DIR: other } };
    },
  },
  {
    cause: 'a receiver that cannot be reached',
    faults: ['receiver_unreachable'],
    change: async () => ({ words: ['--webhook-url', await deadAddress()] }),
  },
  {
    cause: 'a public address that leads to the console',
    faults: ['receiver_not_towhook'],
    change: async () => ({ words: ['--webhook-url', installation().app.consoleUrl] }),
  },
  {
    cause: 'variables that break their rules',
    faults: ['variable_invalid', 'variable_invalid'],
    change: async () => ({ environment: { SERVICE_TIMEOUT_MS: 'soon', VIOLATION_API: 'fax' } }),
  },
  {
    cause: 'an API key that cannot be sent',
    faults: ['api_key_unusable'],
    change: async () => ({ environment: { TOWHOOK_API_KEY: 'not-a-key\r' } }),
  },
  {
    cause: 'a wrong API key',
    faults: ['api_key_wrong'],
    change: async () => ({ environment: { TOWHOOK_API_KEY: 'not-a-key' } }),
  },
  {
    cause: 'a console address that leads to the receiver',
    faults: ['console_not_towhook'],
    change: async () => ({ environment: { TOWHOOK_URL: installation().app.receiverUrl } }),
  },
  {
    cause: 'a console that cannot be reached',
    faults: ['console_unreachable'],
    change: async () => ({ environment: { TOWHOOK_URL: await deadAddress() } }),
  },
];

/** The doctor waits 4 s for each of these before it gives up, so all are examined at once. */
const WITHOUT_REDIS: readonly (Breakage & { readonly examineIn: typeof examineHere })[] = [
  {
    cause: 'a Redis that is down',
    faults: ['redis_unreachable'],
    change: async () => ({ environment: { REDIS_URL: (await deadAddress()).replace('http:', 'redis:') } }),
    examineIn: examineHere,
  },
  {
    cause: 'a Redis that hangs',
    faults: ['redis_unreachable'],
    change: async () => {
      const frozen = stopLater(await startTestRedis());
      frozen.freeze();
      return { environment: { REDIS_URL: frozen.url } };
    }, // The program must end although the connection hangs.
    examineIn: examineInProcess,
  },
  {
    cause: 'a web server in place of Redis',
    faults: ['redis_is_something_else'],
    change: async () => {
      const web = stopLater(await startServer((_request, response) => response.end('<html>no</html>')));
      return { environment: { REDIS_URL: web.url.replace('http:', 'redis:') } };
    },
    examineIn: examineHere,
  },
];

function expectFaults({ exitCode, out, report }: Examined, faults: readonly string[]): void {
  const found = report.findings.filter(({ state }) => state === 'fault');
  expect(found.map(({ code }) => code)).toEqual(faults);
  for (const { fix } of found) expect(fix).toMatch(/\w/);
  expect([exitCode, report.healthy]).toEqual([5, false]);
  for (const secret of [
    CREDENTIALS.clientSecret,
    'not-the-secret',
    'not-a-key',
    installation().app.apiKey,
    'a-token',
  ]) {
    expect(out).not.toContain(secret);
  }
}

test('towhook doctor run as a program reports no faults and no warnings for a healthy set-up', async () => {
  const { exitCode, problems, report } = await examineInProcess(installation());

  expect(report.findings.filter(({ state }) => state !== 'fine')).toEqual([]);
  expect(report).toMatchObject({ healthy: true, faults: 0, warnings: 0 });
  expect([exitCode, problems]).toEqual([0, '']);
  expect(new Set(report.findings.map(({ check }) => check))).toEqual(
    new Set('configuration,node,disk,redis,redis clock,images,service,service clock,receiver,console'.split(',')),
  );
});

test.each(named(BREAKAGES))(
  'towhook doctor reports %s with a fix, and no other fault, for %s',
  async (_faults, _cause, { faults, change }) => {
    expectFaults(await examineHere(installation(), await change()), faults);
  },
);

describe('towhook doctor: a Redis that cannot be used', () => {
  const examined = new Map<string, Examined>();
  beforeAll(async () => {
    await Promise.all(
      WITHOUT_REDIS.map(async ({ cause, change, examineIn }) => {
        examined.set(cause, await examineIn(installation(), await change()));
      }),
    );
  });

  test.each(named(WITHOUT_REDIS))(
    'towhook doctor reports %s with a fix, and no other fault, for %s',
    (_faults, cause, { faults }) => {
      const result = examined.get(cause);
      if (result === undefined) throw new Error(`${cause} was not examined`);
      expectFaults(result, faults);
    },
  );
});

test('towhook doctor names an invalid variable and still examines the other parts of the set-up', async () => {
  const { report } = await examine({ RETRY_CAP_MS: 'long', SERVICE_CLIENT_SECRET: 'not-the-secret' });
  const found = report.findings.filter(({ state }) => state === 'fault');
  expect(found.map(({ code }) => code)).toEqual(['variable_invalid', 'service_credentials_wrong']);
  expect(found[0]?.what).toBe('RETRY_CAP_MS must be a number');
});

test('towhook doctor changes the shared image disk only with --adopt-disk', async () => {
  const { redis, folder } = installation();
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

test('towhook doctor --adopt-disk keeps the shared image disk when DATA_DIR cannot be written', async () => {
  const { redis, folder } = installation();
  const file = join(folder, 'no-folder');
  await writeFile(file, '');
  const before = await redis.ask('GET', '{p0}:spool-marker');

  const { exitCode, report } = await examine({ DATA_DIR: join(file, 'data') }, ['--adopt-disk']);

  expect([exitCode, report.findings.find(({ check }) => check === 'images')?.code]).toEqual([5, 'disk_unusable']);
  expect(await redis.ask('GET', '{p0}:spool-marker')).toBe(before);
});

test('towhook doctor without --json prints one plain line per check and the fix below each fault', async () => {
  const environment = environmentOf(installation(), { TOWHOOK_API_KEY: 'not-a-key' });
  const result = await runProgram(['doctor'], { environment });

  expect(result.exitCode).toBe(5);
  expect(result.out).toMatch(/^fault +console +answers, but does not accept the API key\n +fix: Set TOWHOOK_API_KEY/m);
  expect(result.out).toContain('1 faults, 0 warnings.');
  // oxlint-disable-next-line eslint/no-control-regex
  expect(result.out).not.toMatch(/\u001b/);
});
