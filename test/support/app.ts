import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBeats, standingOf, type Standing } from '../../src/main/beats';
import { startConsole } from '../../src/main/console';
import { openFoundation, type Foundation } from '../../src/main/foundation';
import { healthOf, recentSpoolCheck } from '../../src/main/health';
import { startOps } from '../../src/main/ops';
import { startReceiver } from '../../src/main/receiver';
import { workerHealth } from '../../src/main/supervise';
import { startWorker } from '../../src/main/worker';
import { loadConfig } from '../../src/platform/config';
import type { Listener } from '../../src/platform/http';
import { silentLog, type Log } from '../../src/platform/log';
import { useOwnRedis, useRedis, type OwnRedis, type SharedRedis } from './redis';

/** The roles of a towhook process that can be started here; `all` is receiver, console and worker in one. */
export type AppRole = 'all' | 'receiver' | 'console' | 'worker';

/** A towhook process inside the test's own, on free ports. */
export interface App {
  /** Throws in a role without a receiver; the other addresses likewise. */
  readonly receiverUrl: string;
  readonly consoleUrl: string;
  /** The private listener of receiver and worker. */
  readonly opsUrl: string;
  /** The bootstrap key: role ops. */
  readonly apiKey: string;
  /** What the process stands on, to look at its records with its own stores. */
  readonly foundation: Foundation;
  /** Says at once that the process lives and what it has counted, as it does every 5 s. */
  beat(): Promise<void>;
  stop(): Promise<void>;
}

export interface AppOptions {
  readonly redisUrl: string;
  readonly role?: AppRole;
  /** Environment variables over those of a process on free ports whose service cannot be reached. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly log?: Log;
}

const API_KEY = 'bootstrap-key-of-the-tests';

/** Starts a role as `npm start -- <role>` does. Whoever starts it stops it. */
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
    const beats = openBeats(foundation, role);
    const { receiver, operator, ops, standing } = await startParts(foundation, role);
    beats.begin(standing);
    return {
      beat: () => beats.beat(),
      get receiverUrl() {
        return urlOf(receiver, 'receiver');
      },
      get consoleUrl() {
        return urlOf(operator, 'console');
      },
      get opsUrl() {
        return urlOf(ops, 'private listener');
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
  // Hooks run in the order of their declaration: the process stops before its own Redis does.
  afterAll(stop);
  const redis = ownRedis ? useOwnRedis() : useRedis();
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
    beat: () => current().beat(),
    stop,
  };
}

interface Parts {
  readonly standing: Standing;
  readonly receiver?: Listener;
  readonly operator?: Listener;
  readonly ops?: Listener;
}

/** The parts of each role, as src/main/roles.ts starts them; it keeps their addresses to itself. */
async function startParts(foundation: Foundation, role: AppRole): Promise<Parts> {
  switch (role) {
    case 'receiver':
      return {
        receiver: await startReceiver(foundation),
        ops: await startOps(foundation, healthOf(foundation)),
        standing: standingOf(foundation, { hasSpool: false, worker: null }),
      };
    case 'console':
      return {
        operator: await startConsole(foundation),
        standing: standingOf(foundation, { hasSpool: true, worker: null }),
      };
    case 'worker':
      return startWorkerAndOps(foundation);
    case 'all':
      return {
        ...(await startWorkerAndOps(foundation)),
        receiver: await startReceiver(foundation),
        operator: await startConsole(foundation),
      };
  }
}

async function startWorkerAndOps(foundation: Foundation): Promise<Parts> {
  const worker = startWorker(foundation);
  const ops = await startOps(
    foundation,
    healthOf(foundation, recentSpoolCheck(foundation), () => workerHealth(worker)),
  );
  return { ops, standing: standingOf(foundation, { hasSpool: true, worker }) };
}

function urlOf(listener: Listener | undefined, name: string): string {
  if (!listener) throw new Error(`this role has no ${name}`);
  return listener.url;
}
