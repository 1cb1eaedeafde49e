import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OPERATIONS } from '../../src/contracts/service/operations';
import { certificate, startConnectProxy, startSecureServer } from '../service/connect-proxy';
import { runProgram } from './command';
import {
  environmentOf,
  examineHere,
  examineInProcess,
  expectFaults,
  named,
  NODE_WARNINGS,
  type Breakage,
  type EnvironmentChange,
} from './examine';
import { DEAD_ADDRESS, startServer, startService } from './fake-service';
import { useInstallation, useStopLater } from './installation';
import { startApp } from '../support/app';
import { providerVariables, useProvider } from '../support/identity-provider';
import { startTestRedis } from '../support/redis';

const installation = useInstallation();
const stopLater = useStopLater();

const examine = (environment?: EnvironmentChange['environment'], words?: EnvironmentChange['words']) =>
  examineHere(installation(), { ...(environment && { environment }), ...(words && { words }) });

/**
 * A service with the documented paths below `/api`, which refuses a call about nothing as documented, and answers OPTIONS
 * as web frameworks do. `odd` has other answers by the beginning of the path.
 */
async function startRoutedService(
  odd: Readonly<Record<string, { readonly status: number; readonly message: string }>> = {},
) {
  const paths = Object.values(OPERATIONS).map(({ path }) => `/api${path}`);
  const server = await startServer((request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    const found = Object.entries(odd).find(([beginning]) => path.startsWith(`/api${beginning}`))?.[1];
    const documented = path.endsWith('/auth/public/token') ? 200 : 400;
    const status = !paths.includes(path) ? 404 : request.method === 'OPTIONS' ? 204 : (found?.status ?? documented);
    const message = status === 404 ? `Cannot ${request.method} ${path}` : (found?.message ?? 'Missing required field');
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(status === 204 ? '' : JSON.stringify({ code: status, message, data: { token: 'a-token' } }));
  });
  return `${stopLater(server).url}/api`;
}

const PROBE = ['--probe'];

const BREAKAGES: readonly Breakage[] = [
  {
    cause: 'one operation with a wrong address',
    faults: ['operation_address_wrong'],
    change: async () => ({ environment: { SERVICE_PATHS: '{"detained":"/v1/tow/detained"}' }, words: PROBE }),
  },
  {
    cause: 'a violation operation with a wrong address, which is only asked for its options',
    faults: ['operation_address_wrong'],
    change: async () => {
      const SERVICE_BASE_URL = await startRoutedService();
      return { environment: { SERVICE_BASE_URL, SERVICE_PATHS: '{"violation":"/v9/violations"}' }, words: PROBE };
    },
  },
  {
    cause: 'a prefix that is wrong for all operations but the token',
    faults: ['service_address_wrong'],
    change: async () => {
      const right = await startRoutedService();
      const SERVICE_PATHS = JSON.stringify({ token: `${right}/auth/public/token` });
      return { environment: { SERVICE_BASE_URL: right.replace('/api', '/apis'), SERVICE_PATHS }, words: PROBE };
    },
  },
  {
    cause: 'a missing permission',
    faults: ['operation_forbidden'],
    change: async () => {
      const odd = { '/v1/tow/public/towing-status/released': { status: 403, message: 'Access denied' } };
      return { environment: { SERVICE_BASE_URL: await startRoutedService(odd) }, words: PROBE };
    },
  },
  {
    cause: 'credentials that have expired',
    faults: ['service_credentials_expired'],
    change: async () => {
      const odd = { '/auth': { status: 401, message: 'Client credentials expired on 2026-11-01' } };
      return { environment: { SERVICE_BASE_URL: await startRoutedService(odd) }, words: PROBE };
    },
  },
  {
    cause: 'a network that only a proxy leads out of',
    faults: ['service_proxy_needed'],
    change: async () => ({
      environment: { SERVICE_BASE_URL: DEAD_ADDRESS, HTTPS_PROXY: 'http://proxy.example:3128' },
    }),
  },
  {
    cause: 'a proxy that wants other credentials',
    faults: ['service_proxy_wrong'],
    change: async () => {
      const proxy = stopLater(await startConnectProxy(() => '407 Proxy Authentication Required'));
      return { environment: { SERVICE_PROXY_URL: proxy.url.replace('//', '//operator:not-the-secret@') } };
    },
  },
  {
    cause: 'a service behind a private authority',
    faults: ['service_certificate_untrusted'],
    change: async () => {
      const service = stopLater(await startSecureServer((_request, response) => response.end('{}')));
      return { environment: { SERVICE_BASE_URL: service.url } };
    },
  },
  ...(['service_tls_missing', 'service_tls_old'] as const).map((fault) => ({
    cause: 'an https address where no TLS, or TLS 1.0 alone, is spoken',
    faults: [fault],
    change: async () => {
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
      const service = fault === 'service_tls_old' ? await startSecureServer(() => {}, old) : await startService();
      return { environment: { SERVICE_BASE_URL: stopLater(service).url.replace('http:', 'https:') } };
    },
  })),
  {
    cause: 'a file of authorities that does not exist',
    faults: ['variable_invalid'],
    change: async () => ({ environment: { SERVICE_CA_FILE: '/nowhere/ca.pem' } }),
  },
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
    change: async () => ({ environment: { SERVICE_BASE_URL: `${DEAD_ADDRESS}/parking/api` } }),
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
    change: async () => ({ words: ['--webhook-url', DEAD_ADDRESS] }),
  },
  {
    cause: 'a public address that leads to the console',
    faults: ['receiver_not_towhook'],
    change: async () => ({ words: ['--webhook-url', installation().app.consoleUrl] }),
  },
  {
    cause: 'a receiver whose Redis takes no writes',
    faults: ['receiver_not_ready'],
    change: async () => {
      const redis = stopLater(await startTestRedis());
      const app = stopLater(await startApp({ redisUrl: redis.url, role: 'receiver' }));
      await redis.ask('REPLICAOF', '127.0.0.1', String(installation().redis.port));
      return { words: ['--webhook-url', app.receiverUrl] };
    },
  },
  {
    cause: 'a Redis without any worker, and without the records of a disk in use',
    faults: ['records_missing', 'worker_missing'],
    change: async () => ({
      environment: { REDIS_URL: stopLater(await startTestRedis({ appendfsync: 'always' })).url },
    }),
  },
  {
    cause: 'variables that break their rules',
    faults: ['variable_invalid', 'variable_invalid'],
    change: async () => ({ environment: { SERVICE_TIMEOUT_MS: 'soon', VIOLATION_API: 'fax' } }),
  },
  {
    cause: 'an API key that cannot be sent',
    faults: ['api_key_unusable'],
    change: async () => ({ environment: { TOWHOOK_API_KEY: 'not\ra-key' } }),
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
    change: async () => ({ environment: { TOWHOOK_URL: DEAD_ADDRESS } }),
  },
];

const provider = useProvider();
const signIn = (changes: Readonly<Record<string, string>> = {}) => ({ ...providerVariables(provider), ...changes });

test.each([
  ['provider_unreachable', 'a provider that is down', async () => signIn({ OIDC_ISSUER: DEAD_ADDRESS })],
  [
    'provider_issuer_wrong',
    'an issuer that is spelled otherwise',
    async () => signIn({ OIDC_ISSUER: `${provider.issuer}/` }),
  ],
  ['variable_invalid', 'an incomplete provider', async () => signIn({ OIDC_CLIENT_SECRET: '' })],
  ['variable_invalid', 'incomplete notifications', async () => ({ NOTIFY_MAIL_FROM: 'towhook@towing.example' })],
])('towhook doctor reports %s with a fix, and no other fault, for %s', async (code, _cause, change) => {
  expectFaults(installation(), await examine(await change()), [code]);
});

test('towhook doctor names the redirect addresses when the provider answers', async () => {
  const { exitCode, report } = await examine(signIn());
  const found = report.findings.find(({ check }) => check === 'sign-in');
  expect(found?.state).toBe('fine');
  expect(found?.what).toContain('https://console.example/sign-in/oidc/callback, and https://console.example/sign-in ');
  expect(exitCode).toBe(0);
});

test('towhook doctor run as a program reports no faults and no warnings for a healthy set-up', async () => {
  const { exitCode, problems, report } = await examineInProcess(installation());

  expect(report.findings.filter(({ state }) => state !== 'fine').map(({ code }) => code)).toEqual(NODE_WARNINGS);
  expect(report).toMatchObject({ healthy: true, faults: 0, warnings: NODE_WARNINGS.length });
  expect([exitCode, problems]).toEqual([0, '']);
  expect(new Set(report.findings.map(({ check }) => check))).toEqual(
    new Set(
      'configuration,node,disk,redis,redis clock,images,service,service clock,address,worker,mode,receiver,console'.split(
        ',',
      ),
    ),
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

test('towhook doctor --probe proves each operation without any effect at the service', async () => {
  const calls = async () => (await fetch(`${installation().simulator.url}/simulator/calls`)).text();
  const probedAt = async (environment: EnvironmentChange['environment']) => {
    const { exitCode, report } = await examine(environment, PROBE);
    const found = report.findings.filter(({ check }) => check === 'operation');
    return { exitCode, probed: found.map(({ code, what }) => `${code} ${what.split(':')[0]}`) };
  };
  const routed = (await probedAt({ SERVICE_BASE_URL: await startRoutedService() })).probed;
  expect(routed.filter((found) => !found.startsWith('operation_right'))).toEqual([
    'operation_there invoice',
    'operation_there violation',
  ]);
  const { probed, exitCode } = await probedAt({});
  expect(exitCode).toBe(0);
  // The simulator answers OPTIONS everywhere alike.
  expect(probed).toEqual([
    'operation_right started',
    'operation_right detained',
    'operation_right canceled',
    'operation_right released',
    'operation_not_proved invoice',
    'operation_right payment',
    'operation_not_proved violation',
    'operation_right capacity',
    'operation_right ticket',
  ]);
  expect(await calls()).not.toMatch(/TW-|V-\d/);
});

test('towhook doctor --probe finds a service behind a private authority and a proxy in order', async () => {
  const service = stopLater(
    await startSecureServer((request, response) => {
      const isToken = request.url === '/auth/public/token';
      response.writeHead(isToken ? 200 : 400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ code: isToken ? 200 : 400, message: 'm', data: { token: 'a-token' } }));
    }),
  );
  const proxy = stopLater(await startConnectProxy());
  const environment = {
    SERVICE_BASE_URL: service.url,
    SERVICE_PROXY_URL: proxy.url,
    SERVICE_CA_FILE: certificate('ca'),
  };
  const { exitCode, report } = await examine(environment, PROBE);
  expect(report.findings.filter(({ state }) => state === 'fault')).toEqual([]);
  expect(exitCode).toBe(0);
  expect(proxy.tunnels.length).toBeGreaterThan(5);
});

test('towhook doctor names the address in use of each operation', async () => {
  const { report } = await examine({ SERVICE_PATHS: '{"detained":"/v2/detained","ticket":"https://t.example/check"}' });
  const base = installation().environment['SERVICE_BASE_URL'];
  expect(report.findings.filter(({ check }) => check === 'address').map(({ what }) => what)).toEqual([
    `token: POST ${base}/auth/public/token`,
    `started: PATCH ${base}/v1/tow/public/towing-status/started`,
    `detained: PATCH ${base}/v2/detained`,
    `canceled: PATCH ${base}/v1/tow/public/towing-status/canceled`,
    `released: PATCH ${base}/v1/tow/public/towing-status/released`,
    `invoice: POST ${base}/v1/tow/public/invoice`,
    `payment: PATCH ${base}/v1/tow/public/invoice/payment-status`,
    `violation: POST ${base}/v1/violations/public`,
    `capacity: GET ${base}/sites/public/site-capacity`,
    'ticket: POST https://t.example/check',
  ]);
});

test('towhook doctor changes the shared image disk only with --adopt-disk', async () => {
  const { redis, folder } = installation();
  const other = join(folder, 'adopted');
  const before = await redis.ask('GET', '{towhook-main}:spool-marker');

  expect((await examine({ DATA_DIR: other })).exitCode).toBe(5);
  expect(await redis.ask('GET', '{towhook-main}:spool-marker')).toBe(before);
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
  const before = await redis.ask('GET', '{towhook-main}:spool-marker');

  const { exitCode, report } = await examine({ DATA_DIR: join(file, 'data') }, ['--adopt-disk']);

  expect([exitCode, report.findings.find(({ check }) => check === 'images')?.code]).toEqual([5, 'disk_unusable']);
  expect(await redis.ask('GET', '{towhook-main}:spool-marker')).toBe(before);
});

test('towhook doctor without --json prints one plain line per check and the fix below each fault', async () => {
  const environment = environmentOf(installation(), { TOWHOOK_API_KEY: 'not-a-key' });
  const result = await runProgram(['doctor'], { environment });

  expect(result.exitCode).toBe(5);
  expect(result.out).toMatch(/^fault +console +answers, but does not accept the API key\n +fix: Set TOWHOOK_API_KEY/m);
  expect(result.out).toMatch(/^1 fault, \d+ warnings?\.$/m);
  // oxlint-disable-next-line eslint/no-control-regex
  expect(result.out).not.toMatch(/\u001b/);
});
