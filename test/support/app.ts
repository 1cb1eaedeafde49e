import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { openFoundation, type Foundation } from '../../src/main/foundation';
import { startParts } from '../../src/main/roles';
import { loadConfig } from '../../src/platform/config/config';
import type { Listener } from '../../src/platform/http';
import { silentLog, type Log } from '../../src/platform/log/log';
import { KEYS } from '../../src/store/keys';
import { useOwnRedis, useRedis, withoutTimeoutsIfShared, type OwnRedis, type SharedRedis } from './redis';

/** The roles that `startApp` can start. */
export type AppRole = 'all' | 'receiver' | 'console' | 'worker';

/** A towhook process inside the process of the test, on free ports. */
export interface App {
  /** Throws in a role without a receiver; so do the other addresses. */
  readonly receiverUrl: string;
  readonly consoleUrl: string;
  /** The private listener of receiver and worker. */
  readonly opsUrl: string;
  /** The bootstrap key: role ops. */
  readonly apiKey: string;
  /** To read records with the stores of the process. */
  readonly foundation: Foundation;
  /** Sends a heartbeat with the counters now, instead of every 5 s. */
  sendHeartbeat(): Promise<void>;
  stop(): Promise<void>;
}

export interface AppOptions {
  readonly redisUrl: string;
  readonly role?: AppRole;
  /** Environment variables that override the defaults: free ports and a service that cannot be reached. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly log?: Log;
}

const API_KEY = 'bootstrap-key-of-the-tests';

/** Starts a role as `npm start -- <role>` does. The caller stops it. */
export async function startApp(options: AppOptions): Promise<App> {
  const role = options.role ?? 'all';
  const dataDir = await mkdtemp(join(tmpdir(), 'towhook-app-'));
  const config = loadConfig({
    REDIS_URL: options.redisUrl,
    DATA_DIR: dataDir,
    SERVICE_BASE_URL: 'http://127.0.0.1:1/parking/api',
    SERVICE_CLIENT_ID: 'client-of-the-tests',
    SERVICE_CLIENT_SECRET: 'secret-of-the-tests',
    RECEIVER_PORT: '0',
    CONSOLE_PORT: '0',
    BOOTSTRAP_API_KEY: API_KEY,
    STOP_GRACE_MS: '500',
    ...options.environment,
  });
  const foundation = await openFoundation({ config, log: options.log ?? silentLog });
  const stop = async () => {
    await foundation.resources.closeAll();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await withoutTimeoutsIfShared(options.redisUrl, ...failFastConnections(foundation));
    const parts = await startParts(foundation, role);
    return {
      sendHeartbeat: () => parts.heartbeat.send(),
      get receiverUrl() {
        return urlOf(parts.receiver, 'receiver');
      },
      get consoleUrl() {
        return urlOf(parts.console, 'console');
      },
      get opsUrl() {
        return urlOf(parts.ops, 'private listener');
      },
      apiKey: API_KEY,
      foundation,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The connections of a process on which a command fails after a timeout. */
export function failFastConnections({ redis, queues }: Pick<Foundation, 'redis' | 'queues'>): readonly Redis[] {
  const { connection } = queues.byName.reports.opts;
  if (!(connection instanceof Redis)) throw new Error('the queues have another kind of connection');
  return [redis, connection];
}

/** Removes all records and keeps what a running process stores at its start: without it, Redis counts as emptied. */
const EMPTYING = [
  'EVAL',
  `local kept = {}
   for i, key in ipairs(KEYS) do kept[i] = redis.call('GET', key) end
   redis.call('FLUSHALL')
   for i, key in ipairs(KEYS) do if kept[i] then redis.call('SET', key, kept[i]) end end`,
  '2',
  KEYS.schemaVersion,
  KEYS.spoolMarker,
];

type UseAppOptions = Omit<AppOptions, 'redisUrl'>;

/**
 * Starts a process for the tests of a file, on a Redis that is empty before each test; it is stopped after the last.
 * Properties may be read while tests run, not while they are declared. With `ownRedis` the tests may kill, freeze and
 * configure the Redis.
 */
export function useApp(options: UseAppOptions & { readonly ownRedis: true }): App & { readonly redis: OwnRedis };
export function useApp(options?: UseAppOptions): App & { readonly redis: SharedRedis };
export function useApp({ ownRedis = false, ...options }: UseAppOptions & { readonly ownRedis?: boolean } = {}): App & {
  readonly redis: SharedRedis;
} {
  let app: App | undefined;
  const current = (): App => {
    if (app === undefined) throw new Error('the process of useApp() runs only while tests run');
    return app;
  };
  const stop = async () => {
    await app?.stop();
    app = undefined;
  };
  // Hooks run in reverse order: the process stops before its own Redis does.
  afterAll(stop);
  const redis = ownRedis ? useOwnRedis({}, EMPTYING) : useRedis({ emptying: EMPTYING });
  beforeAll(async () => {
    app = await startApp({ ...options, redisUrl: redis.url });
  });
  return {
    redis,
    get receiverUrl() {
      return current().receiverUrl;
    },
    get consoleUrl() {
      return current().consoleUrl;
    },
    get opsUrl() {
      return current().opsUrl;
    },
    get apiKey() {
      return current().apiKey;
    },
    get foundation() {
      return current().foundation;
    },
    sendHeartbeat: () => current().sendHeartbeat(),
    stop,
  };
}

function urlOf(listener: Listener | null, name: string): string {
  if (!listener) throw new Error(`this role has no ${name}`);
  return listener.url;
}
