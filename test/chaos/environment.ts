import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { startSimulator } from '../../src/simulator';
import { lastingPort } from '../support/lasting-port';
import { compiledFile } from '../support/compiled';
import { startTestRedis } from '../support/redis';
import { createManagedRole, type ManagedRole } from './managed-role';
import { killableRedis, type Killable } from './killable';
import { createRandom } from './random';
import type { FaultTarget } from './schedule';

/** The environment of a run: a Redis, the simulator of the service, and the roles as processes. */
export interface ChaosEnvironment {
  readonly redisUrl: string;
  readonly simulatorUrl: string;
  readonly consoleUrl: string;
  readonly apiKey: string;
  readonly targets: Readonly<Record<FaultTarget, Killable>>;
  readonly roles: readonly ManagedRole[];
  /** DATA_DIR of all roles; also contains their logs. */
  readonly folder: string;
  /** Ends every process. Returns the roles that did not end in good order. Keeps the folder on request. */
  end(options: { keepFolder: boolean }): Promise<string[]>;
}

/** UNKNOWN_GRACE_MS of the roles: how long an unknown outcome waits for proof. */
export const GRACE_MS = 3000;
/** 1.8 s: too short for late tow requests to prove a violation whose answer was lost. */
const VIOLATION_PROOF_HOURS = 0.0005;
/** From a violation to its tow request. */
const ASSESS_AFTER_MS = 1200;

const CREDENTIALS = { clientId: 'chaos-client', clientSecret: 'chaos-client-secret' };
const API_KEY = 'chaos-bootstrap-key';
/** Enough retries that a webhook outlasts any downtime of the receiver. */
const WEBHOOK_RETRY_DELAYS_MS = [300, 500, 800, 1200, ...Array.from({ length: 300 }, () => 1500)];

const ENVIRONMENT = {
  SERVICE_CLIENT_ID: CREDENTIALS.clientId,
  SERVICE_CLIENT_SECRET: CREDENTIALS.clientSecret,
  BOOTSTRAP_API_KEY: API_KEY,
  SERVICE_TIMEOUT_MS: '2000',
  // More connections at once would wait longer for the simulator than a call may take.
  WORKER_CONCURRENCY: '16',
  RETRY_BASE_MS: '200',
  RETRY_CAP_MS: '5000',
  NOT_FOUND_RETRY_MS: '200',
  UNKNOWN_GRACE_MS: String(GRACE_MS),
  VIOLATION_PROOF_HOURS: String(VIOLATION_PROOF_HOURS),
  // Higher than the number of violations, so that permits are taken without waiting.
  BUDGET_VIOLATIONS_PER_MINUTE: '1000',
  // Tokens expire all the time; the default rate limit would make the run last for hours.
  BUDGET_AUTH_PER_MINUTE: '0',
};

/** `programOf` chooses the program of each process that starts; by default that of this version. */
export async function startEnvironment(
  seed: number,
  programOf: () => string = () => compiledFile('src/main/index.ts'),
): Promise<ChaosEnvironment> {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-chaos-'));
  const endGuard = guard(folder);
  const redis = await startTestRedis({ appendfsync: 'always' });
  const receiverPort = await lastingPort();
  const random = createRandom(seed, 4);
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    webhookUrl: `http://127.0.0.1:${receiverPort}`,
    credentials: CREDENTIALS,
    retryDelaysMs: WEBHOOK_RETRY_DELAYS_MS,
    assessAfterMs: ASSESS_AFTER_MS,
    clock: { ...systemClock, random: () => random.next() },
    log: silentLog,
  });
  const environment = {
    ...ENVIRONMENT,
    REDIS_URL: redis.url,
    SERVICE_BASE_URL: `${simulator.url}/parking/api`,
    RECEIVER_PORT: String(receiverPort),
  };
  const actor = (name: string, role: 'receiver' | 'worker' | 'console') => {
    const file = createWriteStream(join(folder, `${name.replace(' ', '-')}.log`));
    const onLine = (line: string) => file.write(`${line}\n`);
    return createManagedRole({ name, role, environment, dataDir: folder, onLine, programOf });
  };
  const receiver = actor('receiver', 'receiver');
  const workers = {
    'worker 1': actor('worker 1', 'worker'),
    'worker 2': actor('worker 2', 'worker'),
    'worker 3': actor('worker 3', 'worker'),
  };
  const desk = actor('console', 'console');
  const roles = [receiver, ...Object.values(workers), desk];
  await Promise.all(roles.map((each) => each.start()));
  return {
    redisUrl: redis.url,
    simulatorUrl: simulator.url,
    consoleUrl: await desk.url('console'),
    apiKey: API_KEY,
    targets: { ...workers, receiver, redis: killableRedis(redis) },
    roles,
    folder,
    async end({ keepFolder }) {
      const ends = await Promise.all(roles.map(async (each) => ({ name: each.name, how: await each.end() })));
      await simulator.stop(500);
      await redis.stop();
      endGuard();
      if (!keepFolder) await rm(folder, { recursive: true, force: true });
      return ends.filter(({ how }) => how !== 'in good order').map(({ name, how }) => `${name} ended: ${how}`);
    },
  };
}

/**
 * Kills frozen processes if this program is killed: a shell waits for the end of a pipe and reads their ids from the
 * folder. Returns a function that ends the shell.
 */
function guard(folder: string): () => void {
  const script = 'cat >/dev/null; for file in "$1"/pid-*; do kill -9 "${file##*pid-}" 2>/dev/null; done';
  const shell = spawn('sh', ['-c', script, 'sh', folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  shell.unref();
  return () => {
    shell.stdin.end();
  };
}
