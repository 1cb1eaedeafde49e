import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { startSimulator, type Simulator } from '../../src/simulator';
import { connectFailFast, whenReady } from '../../src/store/redis/connect';
import { layoutOf } from '../../src/spool/folders';
import { createProcessStore } from '../../src/store/ops/processes';
import { createSpoolMarker } from '../../src/store/ops/spool-marker';
import { startApp, type App } from '../support/app';
import { eventually } from '../support/eventually';
import { beatingProcess, NOTHING } from '../support/processes';
import { startTestRedis, type TestRedis } from '../support/redis';

/** A healthy installation: Redis, the simulator in place of the service, and all roles of towhook on free ports. */
export interface InstalledPackage {
  readonly app: App;
  readonly redis: TestRedis;
  readonly simulator: Simulator;
  readonly dataDir: string;
  /** An empty folder for the files of the tests. */
  readonly folder: string;
  /** The environment of the roles, which is that of the command line on the same machine. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export const CREDENTIALS = { clientId: 'client-of-the-tests', clientSecret: 'secret-of-the-tests' };

export async function startInstallation(changes: Readonly<Record<string, string>> = {}): Promise<InstalledPackage> {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-cli-'));
  const dataDir = join(folder, 'data');
  const redis = await startTestRedis({ appendfsync: 'always' });
  let receiverUrl = '';
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    webhookUrl: () => receiverUrl,
    credentials: CREDENTIALS,
    assessAfterMs: 100,
    clock: systemClock,
    log: silentLog,
  });
  const service = {
    SERVICE_BASE_URL: `${simulator.url}/parking/api`,
    SERVICE_CLIENT_ID: CREDENTIALS.clientId,
    SERVICE_CLIENT_SECRET: CREDENTIALS.clientSecret,
    DATA_DIR: dataDir,
    ...changes,
  };
  const app = await startApp({ redisUrl: redis.url, environment: service });
  receiverUrl = app.receiverUrl;
  // The doctor knows the worker by its heartbeat. A busy machine may lose the connection to Redis right after the start.
  await eventually(() => app.sendHeartbeat());
  // Claims the image disk, as /readyz does before any image is stored.
  await eventually(() => app.foundation.spool.state());
  return {
    app,
    redis,
    simulator,
    dataDir,
    folder,
    environment: {
      ...service,
      REDIS_URL: redis.url,
      RECEIVER_PORT: new URL(app.receiverUrl).port,
      CONSOLE_PORT: new URL(app.consoleUrl).port,
      BOOTSTRAP_API_KEY: app.apiKey,
    },
    async stop() {
      await simulator.stop(500);
      await app.stop();
      await redis.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts an installation before the tests of a file and stops it after them. */
export function useInstallation(changes: Readonly<Record<string, string>> = {}): () => InstalledPackage {
  let installation: InstalledPackage | undefined;
  beforeAll(async () => {
    installation = await startInstallation(changes);
  });
  afterAll(() => installation?.stop());
  return () => {
    if (!installation) throw new Error('the installation of useInstallation() can be used only while tests run');
    return installation;
  };
}

/** Starts a Redis in which a worker has just sent a heartbeat, and which knows the disk of this installation. */
export async function startRedisWithWorker(
  { dataDir }: Pick<InstalledPackage, 'dataDir'>,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestRedis> {
  const redis = await startTestRedis(settings);
  const connection = connectFailFast(redis.url, { log: silentLog });
  try {
    await whenReady(connection, 30_000);
    await createSpoolMarker(connection).adopt((await readFile(layoutOf(dataDir).marker, 'utf8')).trim());
    await createProcessStore(connection).beat(beatingProcess('a-worker', { role: 'worker' }), NOTHING);
  } finally {
    connection.disconnect();
  }
  return redis;
}

interface Stoppable {
  stop(): Promise<unknown>;
}

/** Returns a function that has a resource stopped after the last test of the file. */
export function useStopLater(): <T extends Stoppable>(resource: T) => T {
  const opened: Stoppable[] = [];
  afterAll(() => Promise.all(opened.map((resource) => resource.stop())));
  return (resource) => {
    opened.push(resource);
    return resource;
  };
}
