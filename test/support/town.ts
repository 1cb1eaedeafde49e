import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Addresses } from '../../src/demo/play';
import { systemClock } from '../../src/platform/clock';
import { silentLog, type Log } from '../../src/platform/log/log';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../src/simulator';
import { startApp, type App } from './app';
import { startProcess } from './process';
import { type RoleProcess } from './role-process';

export const API_KEY = 'e2e-bootstrap-key';
const CREDENTIALS = { clientId: 'e2e-client', clientSecret: 'e2e-client-secret' };

type Environment = Readonly<Record<string, string>>;

/** A simulator, and the settings that connect towhook processes to it and to one Redis. */
export interface Town {
  readonly simulator: Simulator;
  readonly environment: Environment;
  /** Starts a role as its own process. Starting a receiver directs the simulator's webhooks to it. */
  start(role: 'receiver' | 'worker' | 'console' | 'all', overrides?: Environment): Promise<RoleProcess>;
  /** Starts the role `all` inside the process of the test, which is faster where no process is killed or frozen. */
  startInProcess(overrides?: Environment, log?: Log): Promise<App>;
  /** The addresses of a console process and of the simulator, for `playTows`. */
  addressesOf(console: RoleProcess): Promise<Addresses>;
}

const simulators = new Set<Simulator>();
const apps = new Set<App>();
const folders: string[] = [];

afterEach(async () => {
  await Promise.all([...apps].map((app) => app.stop()));
  apps.clear();
  await Promise.all([...simulators].map((simulator) => simulator.stop(100)));
  simulators.clear();
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

/** Starts a simulator that is stopped after the test. */
export async function buildTown(redisUrl: string, options: Partial<SimulatorOptions> = {}): Promise<Town> {
  let receiverUrl = '';
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    webhookUrl: () => receiverUrl,
    credentials: CREDENTIALS,
    clock: systemClock,
    log: silentLog,
    ...options,
  });
  simulators.add(simulator);
  // Console and workers share a disk, as in production.
  const dataDir = await mkdtemp(join(tmpdir(), 'towhook-town-'));
  folders.push(dataDir);
  const environment = {
    REDIS_URL: redisUrl,
    DATA_DIR: dataDir,
    SERVICE_BASE_URL: `${simulator.url}/some/prefix/`,
    SERVICE_CLIENT_ID: CREDENTIALS.clientId,
    SERVICE_CLIENT_SECRET: CREDENTIALS.clientSecret,
    BOOTSTRAP_API_KEY: API_KEY,
  };
  return {
    simulator,
    environment,
    async start(role, overrides = {}) {
      const started = await startProcess(role, { ...environment, ...overrides });
      if (role === 'receiver' || role === 'all') receiverUrl = await started.url('receiver');
      await started.logged('process.started');
      return started;
    },
    async startInProcess(overrides = {}, log = silentLog) {
      const app = await startApp({ redisUrl, environment: { ...environment, ...overrides }, log });
      apps.add(app);
      receiverUrl = app.receiverUrl;
      return app;
    },
    async addressesOf(console) {
      return { consoleUrl: await console.url('console'), simulatorUrl: simulator.url, apiKey: API_KEY };
    },
  };
}
