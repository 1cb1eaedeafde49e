import type { Redis } from 'ioredis';
import { silentLog } from '../../src/platform/log/log';
import { connectFailFast, whenReady, type Server } from '../../src/store/redis/connect';
import { eventually } from './eventually';
import { startTestRedis, type TestRedis } from './redis-server';

export { startTestRedis, testServer, type TestRedis } from './redis-server';

/** The server that the test files of one jest worker share. It is empty before each test. */
export type SharedRedis = Pick<TestRedis, 'url' | 'port' | 'ask'>;

/** A server of one test file, which its tests may kill, freeze and configure. It is empty before each test. */
export type OwnRedis = Omit<TestRedis, 'stop'>;

/** Ends a command that hangs. */
const HANGS_AFTER_MS = 60_000;

/** Commands that change the server beyond its data, which the next test file would notice. */
const SERVER_COMMAND = /^(CONFIG SET|REPLICAOF|SHUTDOWN|DEBUG|ACL)\b/i;

/**
 * Gives the tests of a file the Redis of their jest worker, emptied before each test. Its properties may be read while
 * tests run, not while they are declared. Tests that kill, freeze or configure the server call `useOwnRedis`.
 */
export function useRedis({ emptying = ['FLUSHALL'] }: { readonly emptying?: readonly string[] } = {}): SharedRedis {
  let redis: SharedRedis | undefined;
  const current = (): SharedRedis => {
    if (redis === undefined) throw new Error('the Redis of useRedis() can be used only while tests run');
    return redis;
  };
  beforeAll(async () => {
    redis = await workerResources.redis();
    // A process that starts before the first test must not find what the file before has left.
    await current().ask('FLUSHALL');
  });
  beforeEach(() => current().ask(...emptying));
  return {
    get url() {
      return current().url;
    },
    get port() {
      return current().port;
    },
    async ask(...command): Promise<unknown> {
      const line = command.join(' ');
      if (SERVER_COMMAND.test(line)) throw new Error(`${line} needs a server of useOwnRedis()`);
      return current().ask(...command);
    },
  };
}

/** In production a command fails after 0.8 s. In a test that would be a requirement on the speed of the machine. */
export function withoutTimeouts({ options }: Redis): void {
  options.commandTimeout = HANGS_AFTER_MS;
  options.socketTimeout = HANGS_AFTER_MS;
}

/** As `withoutTimeouts`, if `url` is the shared server: no test freezes it, while tests of others wait for timeouts. */
export async function withoutTimeoutsIfShared(url: string, ...connections: readonly Redis[]): Promise<void> {
  if (await workerResources.hasRedisAt(url)) connections.forEach(withoutTimeouts);
}

/** Opens a connection without these timeouts, also by way of a wire. The caller disconnects it. */
export async function openConnection(server: Server): Promise<Redis> {
  const connection = connectFailFast(server, { log: silentLog });
  withoutTimeouts(connection);
  await whenReady(connection, HANGS_AFTER_MS);
  return connection;
}

/** Gives each test of a file a connection of its own to the shared server. */
export function useConnection(server: Pick<SharedRedis, 'url'>, onOpen: (connection: Redis) => void): void {
  let connection: Redis;
  beforeEach(async () => {
    connection = await openConnection(server.url);
    onOpen(connection);
  });
  afterEach(() => connection.disconnect());
}

/**
 * Starts a server for the tests of one file: running and empty before each test, stopped after the last. `settings` are
 * Redis's own. Its properties may be read while tests run, not while they are declared.
 */
export function useOwnRedis(
  settings: Readonly<Record<string, string>> = {},
  emptying: readonly string[] = ['FLUSHALL'],
): OwnRedis {
  let redis: TestRedis | undefined;
  const current = (): TestRedis => {
    if (redis === undefined) throw new Error('the Redis of useOwnRedis() runs only while tests run');
    return redis;
  };
  beforeAll(async () => {
    redis = await startTestRedis(settings);
  });
  beforeEach(async () => {
    current().thaw();
    await current().start();
    await current().ask(...emptying);
  });
  afterAll(() => redis?.stop());
  return {
    get url() {
      return current().url;
    },
    get port() {
      return current().port;
    },
    get folder() {
      return current().folder;
    },
    get processId() {
      return current().processId;
    },
    kill: () => current().kill(),
    start: () => current().start(),
    restart: () => current().restart(),
    freeze: () => current().freeze(),
    thaw: () => current().thaw(),
    ask: (...command) => current().ask(...command),
  };
}

/** The time of a Redis server, whose clock stamps records, ms since the epoch. */
export async function redisNowMs(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}

/** Resolves when the server's clock is past `timestampMs`. */
export async function untilAfter(redis: Redis, timestampMs: number): Promise<void> {
  await eventually(async () => expect(await redisNowMs(redis)).toBeGreaterThan(timestampMs));
}
