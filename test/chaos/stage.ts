import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { startSimulator } from '../../src/simulator';
import { freePort } from '../../src/store/embedded/launch';
import { startTestRedis } from '../support/redis';
import { createActor, type Actor } from './actor';
import { mortalRedis, type Mortal } from './mortal';
import { createRandom } from './random';
import type { Victim } from './schedule';

/** Everything a run stands on: a Redis of its own, the service's stand-in, and the roles as real processes. */
export interface Stage {
  readonly redisUrl: string;
  readonly simulatorUrl: string;
  readonly consoleUrl: string;
  readonly apiKey: string;
  readonly victims: Readonly<Record<Victim, Mortal>>;
  readonly actors: readonly Actor[];
  /** DATA_DIR of all roles, which share it; holds their logs, too. */
  readonly folder: string;
  /** Ends every process; says which of the roles did not end in good order. The folder stays when asked for. */
  end(options: { keepFolder: boolean }): Promise<string[]>;
}

/** How long an unknown outcome waits for its proof. */
export const GRACE_MS = 3000;
/** How long a violation whose answer was lost waits for its proof: 2.7 s, which is too short for some tow requests. */
const VIOLATION_PROOF_HOURS = 0.00075;
/** From a violation to the tow request for it. */
const ASSESS_AFTER_MS = 700;

const CREDENTIALS = { clientId: 'chaos-client', clientSecret: 'chaos-client-secret' };
const API_KEY = 'chaos-bootstrap-key';
/** Dense, so that a webhook outlives any time its receiver is down, and is never given up. */
const WEBHOOK_RETRY_DELAYS_MS = [300, 500, 800, 1200, ...Array.from({ length: 300 }, () => 1500)];

const ENVIRONMENT = {
  SERVICE_CLIENT_ID: CREDENTIALS.clientId,
  SERVICE_CLIENT_SECRET: CREDENTIALS.clientSecret,
  BOOTSTRAP_API_KEY: API_KEY,
  SERVICE_TIMEOUT_MS: '2000',
  // A burst of new connections would wait longer for the service of this run than a call may take.
  WORKER_CONCURRENCY: '16',
  RETRY_BASE_MS: '200',
  RETRY_CAP_MS: '5000',
  NOT_FOUND_RETRY_MS: '200',
  UNKNOWN_GRACE_MS: String(GRACE_MS),
  VIOLATION_PROOF_HOURS: String(VIOLATION_PROOF_HOURS),
  // More than there are; every slot is taken and given back all the same.
  BUDGET_VIOLATIONS_PER_MINUTE: '1000',
  // Tokens end all the time here; the usual budget would make the run last for hours.
  BUDGET_AUTH_PER_MINUTE: '0',
};

export async function setStage(seed: number): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-chaos-'));
  const endGuard = guard(folder);
  const redis = await startTestRedis({ appendfsync: 'always' });
  const receiverPort = await freePort();
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
    return createActor({ name, role, environment, dataDir: folder, onLine: (line) => file.write(`${line}\n`) });
  };
  const receiver = actor('receiver', 'receiver');
  const workers = {
    'worker 1': actor('worker 1', 'worker'),
    'worker 2': actor('worker 2', 'worker'),
    'worker 3': actor('worker 3', 'worker'),
  };
  const desk = actor('console', 'console');
  const actors = [receiver, ...Object.values(workers), desk];
  await Promise.all(actors.map((each) => each.start()));
  return {
    redisUrl: redis.url,
    simulatorUrl: simulator.url,
    consoleUrl: await desk.url('console'),
    apiKey: API_KEY,
    victims: { ...workers, receiver, redis: mortalRedis(redis) },
    actors,
    folder,
    async end({ keepFolder }) {
      const ends = await Promise.all(actors.map(async (each) => ({ name: each.name, how: await each.end() })));
      await simulator.stop(500);
      await redis.stop();
      endGuard();
      if (!keepFolder) await rm(folder, { recursive: true, force: true });
      return ends.filter(({ how }) => how !== 'in good order').map(({ name, how }) => `${name} ended: ${how}`);
    },
  };
}

/**
 * A frozen process ends for nobody but who kills it: should this program be killed itself, a shell that waits for the end
 * of a pipe does that for it. Returns what ends the shell.
 */
function guard(folder: string): () => void {
  const script = 'cat >/dev/null; for file in "$1"/pid-*; do kill -9 "${file##*pid-}" 2>/dev/null; done';
  const shell = spawn('sh', ['-c', script, 'sh', folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  shell.unref();
  return () => {
    shell.stdin.end();
  };
}
