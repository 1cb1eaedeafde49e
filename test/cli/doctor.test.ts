import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from './command';
import {
  environmentOf,
  examineHere,
  examineInProcess,
  expectFaults,
  named,
  type Breakage,
  type Change,
} from './examine';
import { deadAddress, startServer, startService } from './fake-service';
import { useInstallation, useStopLater } from './installation';

jest.setTimeout(90_000);
const installation = useInstallation();
const stopLater = useStopLater();

const examine = (environment?: Change['environment'], words?: Change['words']) =>
  examineHere(installation(), { ...(environment && { environment }), ...(words && { words }) });

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
    expectFaults(installation(), await examineHere(installation(), await change()), faults);
  },
);

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
