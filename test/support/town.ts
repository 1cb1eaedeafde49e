import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../src/simulator';
import { startProcess, type RoleProcess } from './process';

export const API_KEY = 'e2e-bootstrap-key';
const CREDENTIALS = { clientId: 'e2e-client', clientSecret: 'e2e-client-secret' };

/** A simulator and the settings that connect role processes to it and to one Redis. */
export interface Town {
  readonly simulator: Simulator;
  readonly environment: Record<string, string>;
  /** Starts a role; a receiver's address is where the simulator posts from then on. */
  start(role: 'receiver' | 'worker' | 'console' | 'all', also?: Record<string, string>): Promise<RoleProcess>;
}

const simulators = new Set<Simulator>();
const folders: string[] = [];

afterEach(async () => {
  await Promise.all([...simulators].map((simulator) => simulator.stop(100)));
  simulators.clear();
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

/** Starts a simulator that ends with the test. */
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
  // Console and workers share the disk, as they do where towhook runs.
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
    async start(role, also = {}) {
      const started = await startProcess(role, { ...environment, ...also });
      if (role === 'receiver' || role === 'all') receiverUrl = await started.url('receiver');
      await started.logged('process.started');
      return started;
    },
  };
}
