import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { KEYS } from '../../src/store/keys';
import { startTestRedis } from '../support/redis';
import { startTlsFront } from '../support/tls-front';
import { examineHere, examineInProcess, expectFaults, named, type Breakage, type Examined } from './examine';
import { DEAD_ADDRESS, startServer } from './fake-service';
import { startRedisWithWorker, useInstallation, useStopLater } from './installation';

const installation = useInstallation();
const stopLater = useStopLater();

/** A Redis that answers but does not suit towhook. */
const UNSUITABLE: readonly Breakage[] = [
  {
    cause: 'a Redis without an append-only file',
    faults: ['redis_without_aof'],
    change: async () => ({
      environment: { REDIS_URL: stopLater(await startRedisWithWorker(installation(), { appendonly: 'no' })).url },
    }),
  },
  {
    cause: 'a Redis that evicts',
    faults: ['redis_evicts'],
    change: async () => ({
      environment: {
        REDIS_URL: stopLater(await startRedisWithWorker(installation(), { 'maxmemory-policy': 'allkeys-lru' })).url,
      },
    }),
  },
  {
    cause: 'a Redis that syncs once a second, with REDIS_STRICT=true',
    faults: ['redis_syncs_late'],
    change: async () => ({
      environment: {
        REDIS_URL: stopLater(await startRedisWithWorker(installation(), { appendfsync: 'everysec' })).url,
        REDIS_STRICT: 'true',
      },
    }),
  },
  {
    cause: 'a Redis with data of a later version',
    faults: ['redis_schema_too_new'],
    change: async () => {
      const later = stopLater(await startTestRedis());
      await later.ask('SET', KEYS.schemaVersion, '9');
      return { environment: { REDIS_URL: later.url } };
    },
  },
  {
    cause: 'a Redis whose restore was interrupted',
    faults: ['redis_restore_unfinished'],
    change: async () => {
      const unfinished = stopLater(await startTestRedis({ appendfsync: 'always' }));
      await unfinished.ask('SET', KEYS.schemaVersion, 'being restored: an-id');
      return { environment: { REDIS_URL: unfinished.url } };
    },
  },
  {
    cause: 'a Redis with a version that is no number',
    faults: ['redis_data_unexpected'],
    change: async () => {
      const changed = stopLater(await startTestRedis({ appendfsync: 'always' }));
      await changed.ask('SET', KEYS.schemaVersion, 'two');
      return { environment: { REDIS_URL: changed.url } };
    },
  },
  {
    cause: 'a Redis with a key of another type',
    faults: ['redis_refuses_command'],
    change: async () => {
      const changed = stopLater(await startTestRedis({ appendfsync: 'always' }));
      await changed.ask('SET', KEYS.dataKeys, 'text');
      return { environment: { REDIS_URL: changed.url } };
    },
  },
  {
    cause: 'a database that Redis does not have',
    faults: ['redis_database_refused'],
    change: () => Promise.resolve({ environment: { REDIS_URL: `${installation().redis.url}/99` } }),
  },
  {
    cause: 'a database that is no number',
    faults: ['variable_invalid'],
    change: () => Promise.resolve({ environment: { REDIS_URL: `${installation().redis.url}/abc` } }),
  },
  {
    cause: 'a Redis that is a replica',
    faults: ['redis_is_replica'],
    change: async () => {
      const replica = stopLater(await startTestRedis());
      await replica.ask('REPLICAOF', '127.0.0.1', String(installation().redis.port));
      return { environment: { REDIS_URL: replica.url } };
    },
  },
  ...['eval', 'evalsha'].map((command) => ({
    cause: `a user of Redis who may not run ${command}`,
    faults: ['redis_not_allowed'],
    change: async () => {
      const own = stopLater(await startTestRedis({ appendfsync: 'always' }));
      await own.ask('ACL', 'SETUSER', 'few', 'on', '>password', '~*', '&*', '+@all', `-${command}`);
      return { environment: { REDIS_URL: own.url.replace('://', '://few:password@') } };
    },
  })),
  {
    cause: 'a replica that takes writes',
    faults: ['redis_is_replica'],
    change: async () => {
      const replica = stopLater(await startTestRedis({ 'replica-read-only': 'no' }));
      await replica.ask('REPLICAOF', '127.0.0.1', String(installation().redis.port));
      return { environment: { REDIS_URL: replica.url } };
    },
  },
];

/** The doctor waits 4 s for each of these before it gives up, so all are examined at once. */
const UNREACHABLE: readonly (Breakage & { readonly examineIn: typeof examineHere })[] = [
  {
    cause: 'a Redis that is down',
    faults: ['redis_unreachable'],
    change: async () => ({ environment: { REDIS_URL: DEAD_ADDRESS.replace('http:', 'redis:') } }),
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
  {
    cause: 'a Redis whose certificate no known authority has signed',
    faults: ['redis_certificate_untrusted'],
    change: async () => {
      const front = stopLater(await startTlsFront(installation().redis.port));
      return { environment: { REDIS_URL: `rediss://127.0.0.1:${front.port}` } };
    },
    examineIn: examineHere,
  },
  {
    cause: 'a certificate for Redis that is not in its file',
    faults: ['variable_invalid'],
    change: () => Promise.resolve({ environment: { REDIS_URL: 'rediss://127.0.0.1:1', REDIS_CA_FILE: __filename } }),
    examineIn: examineHere,
  },
];

test.each(named(UNSUITABLE))(
  'towhook doctor reports %s with a fix, and no other fault, for %s',
  async (_faults, _cause, { faults, change }) => {
    expectFaults(installation(), await examineHere(installation(), await change()), faults);
  },
);

test.each([
  [60, 'fine', 'redis_memory'],
  [90, 'warning', 'redis_memory_short'],
])('towhook doctor shows how much of maxmemory is used, and rates %d %% as %s', async (percent, state, code) => {
  const own = stopLater(await startRedisWithWorker(installation(), { appendfsync: 'always' }));
  const used = Number(/used_memory:(\d+)/.exec(String(await own.ask('INFO', 'memory')))?.[1]);
  await own.ask('CONFIG', 'SET', 'maxmemory', String(Math.round((used * 100) / percent)));
  const { report } = await examineHere(installation(), { environment: { REDIS_URL: own.url } });
  const finding = report.findings.find((each) => each.code.startsWith('redis_memory'));
  expect(finding).toMatchObject({ state, code });
  expect(finding?.what).toMatch(/uses .* MiB of maxmemory .* MiB \(\d+ %\)/);
});

test('towhook doctor without REDIS_URL creates neither DATA_DIR nor an embedded Redis in it', async () => {
  const parent = join(installation().folder, 'absent');
  const environment = { REDIS_URL: '', DATA_DIR: join(parent, 'data') };
  const { report } = await examineHere(installation(), { environment });
  const finding = report.findings.find(({ check }) => check === 'redis');
  expect(finding).toMatchObject({ state: 'skipped', code: 'redis_not_begun' });
  await expect(stat(parent)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('towhook doctor names the command that the user of Redis may not run, and the file with the right ones', async () => {
  const own = stopLater(await startTestRedis());
  await own.ask('ACL', 'SETUSER', 'few', 'on', '>password', '~*', '&*', '+@all', '-evalsha');
  const environment = { REDIS_URL: own.url.replace('://', '://few:password@') };
  const { report } = await examineHere(installation(), { environment });
  const finding = report.findings.find(({ code }) => code === 'redis_not_allowed');
  expect(finding?.what).toContain('evalsha');
  expect(finding?.fix).toContain('deploy/redis/users.acl');
});

test('towhook doctor does not call the budget of token calls used up when Redis refuses to count the call', async () => {
  const own = stopLater(await startRedisWithWorker(installation()));
  // The script that counts needs this command.
  await own.ask('ACL', 'SETUSER', 'few', 'on', '>password', '~*', '&*', '+@all', '-ltrim');
  const environment = { REDIS_URL: own.url.replace('://', '://few:password@'), BUDGET_AUTH_PER_MINUTE: '5' };
  const { report } = await examineHere(installation(), { environment });
  const finding = report.findings.find(({ check }) => check === 'service');
  expect(finding?.state).toBe('skipped');
  expect(finding?.what).toContain('Redis does not count');
});

describe('towhook doctor without a reachable Redis', () => {
  const examined = new Map<string, Examined>();
  beforeAll(async () => {
    await Promise.all(
      UNREACHABLE.map(async ({ cause, change, examineIn }) => {
        examined.set(cause, await examineIn(installation(), await change()));
      }),
    );
  });

  test.each(named(UNREACHABLE))(
    'towhook doctor reports %s with a fix, and no other fault, for %s',
    (_faults, cause, { faults }) => {
      const result = examined.get(cause);
      if (result === undefined) throw new Error(`${cause} was not examined`);
      expectFaults(installation(), result, faults);
    },
  );
});
