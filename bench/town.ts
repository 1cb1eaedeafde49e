import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Addresses } from '../src/main/demo/play';
import { startTestRedis } from '../test/support/redis';
import { startRoleProcess, type RoleProcess } from '../test/support/role-process';

const CREDENTIALS = { SERVICE_CLIENT_ID: 'bench-client', SERVICE_CLIENT_SECRET: 'bench-client-secret' };
const API_KEY = 'bench-bootstrap-key';

/** A whole towhook over a Redis and a simulator of its own, each role a process, so that none slows another's clock. */
export interface Town extends Addresses {
  readonly consoleProcessId: number;
  startWorkers(count: number): Promise<void>;
  /** Kills all workers. */
  stopWorkers(): Promise<void>;
  end(): Promise<void>;
}

/** Starts receiver, console and simulator; whoever starts it ends it. */
export async function openTown(environment: Readonly<Record<string, string>> = {}): Promise<Town> {
  const dataDir = await mkdtemp(join(tmpdir(), 'towhook-bench-'));
  const redis = await startTestRedis({ appendfsync: 'always' });
  const base = { REDIS_URL: redis.url, BOOTSTRAP_API_KEY: API_KEY, ...CREDENTIALS, ...environment };
  const processes: RoleProcess[] = [];
  const workers: RoleProcess[] = [];
  const start = async (role: string, also: Readonly<Record<string, string>> = {}) => {
    const started = startRoleProcess(role, { environment: { ...base, ...also }, dataDir, linesKept: 100 });
    processes.push(started);
    await started.logged('process.started');
    return started;
  };
  const receiver = await start('receiver');
  const desk = await start('console');
  const simulator = await start('simulator', { SIMULATOR_WEBHOOK_URL: await receiver.url('receiver') });
  const simulatorUrl = await simulator.url('simulator');
  return {
    consoleUrl: await desk.url('console'),
    consoleProcessId: desk.processId,
    simulatorUrl,
    apiKey: API_KEY,
    async startWorkers(count) {
      const service = { SERVICE_BASE_URL: `${simulatorUrl}/prefix` };
      workers.push(...(await Promise.all(Array.from({ length: count }, () => start('worker', service)))));
    },
    async stopWorkers() {
      const stopping = workers.splice(0);
      for (const worker of stopping) worker.kill('SIGKILL');
      await Promise.all(stopping.map(({ exited }) => exited));
    },
    async end() {
      for (const each of processes) each.kill('SIGKILL');
      await Promise.all(processes.map(({ exited }) => exited));
      await redis.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Posts something and fails on anything but success. */
export async function post(url: string, body: unknown, apiKey?: string): Promise<unknown> {
  const headers = {
    'content-type': 'application/json',
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${response.status} from ${new URL(url).pathname}`);
  return response.json();
}
