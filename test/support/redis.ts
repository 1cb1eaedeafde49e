import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { ask, type Reply } from '../../src/store/embedded/ask';
import { findServer } from '../../src/store/embedded/find-server';
import { freePort, launch, RedisDidNotStart } from '../../src/store/embedded/launch';
import { isGoneWithin, sendSignal } from '../../src/store/embedded/processes';
import type { ServerBinary } from '../../src/store/embedded/server-binary';

/** A Redis server of a test's own, with its data in a temporary folder. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  readonly processId: number;
  /** Kills the server as a power failure of its process would; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts a killed server again, on the same port and data. */
  start(): Promise<void>;
  /** Kills it and starts it again. */
  restart(): Promise<void>;
  /** Stops the process in its tracks: connections stay open, nothing answers. */
  freeze(): void;
  /** Lets a frozen process go on. */
  thaw(): void;
  /** Any command, past every client library. */
  ask(...command: string[]): Promise<Reply>;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
}

/**
 * A server for the tests of a file: started before them, running and empty before each, gone after them. Its properties
 * may be read once the tests run, not while they are declared.
 */
export function useRedis(settings: Readonly<Record<string, string>> = {}): Omit<TestRedis, 'stop'> {
  let redis: TestRedis | undefined;
  const current = (): TestRedis => {
    if (redis === undefined) throw new Error('the Redis of useRedis() runs only while tests run');
    return redis;
  };
  beforeAll(async () => {
    redis = await startTestRedis(settings);
  });
  beforeEach(async () => {
    current().thaw();
    await current().start();
    await current().ask('FLUSHALL');
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

/** One server, to be stopped by whoever started it. `settings` are Redis's own, over those of the embedded server. */
export async function startTestRedis(settings: Readonly<Record<string, string>> = {}): Promise<TestRedis> {
  const server = await testServer();
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'towhook-redis-')));
  const endGuard = guard(folder);
  const launchOn = (port: number) =>
    // What a test reads back after a kill lies in the system's cache; only a power failure would need the disk.
    launch({ server, folder, port, settings: { appendfsync: 'no', ...settings } });
  const { port, processId: firstProcessId } = await onFreePort(launchOn);
  let processId: number | null = firstProcessId;
  const running = () => ({ processId: processId ?? 0, port, folder });

  const redis: TestRedis = {
    url: `redis://127.0.0.1:${port}`,
    port,
    folder,
    get processId() {
      if (processId === null) throw new Error('the server was killed');
      return processId;
    },
    async kill() {
      if (processId === null) return;
      sendSignal(processId, 'SIGKILL');
      if (!(await isGoneWithin(running(), 5_000))) throw new Error('the server survived its killing');
      processId = null;
    },
    async start() {
      processId ??= await launchOn(port);
    },
    async restart() {
      await redis.kill();
      await redis.start();
    },
    freeze: () => sendSignal(redis.processId, 'SIGSTOP'),
    thaw: () => {
      if (processId !== null) sendSignal(processId, 'SIGCONT');
    },
    ask: (...command) => ask(port, command),
    async stop() {
      // Nobody reads its data any more; an orderly end takes ten times as long.
      await redis.kill();
      await rm(folder, { recursive: true, force: true });
      endGuard();
    },
  };
  return redis;
}

/** The server program for tests, fetched if the machine has none. */
export function testServer(): Promise<ServerBinary> {
  const { PATH = '', REDIS_SERVER_BIN = null } = process.env;
  return findServer({ binary: REDIS_SERVER_BIN, searchPath: PATH, clock: systemClock, log: silentLog });
}

async function onFreePort(start: (port: number) => Promise<number>): Promise<{ port: number; processId: number }> {
  for (;;) {
    const port = await freePort();
    try {
      return { port, processId: await start(port) };
    } catch (error) {
      if (!(error instanceof RedisDidNotStart && error.isPortTaken)) throw error;
    }
  }
}

/**
 * A server must not outlive its tests, not even when the test process is killed: a shell waits for the end of a pipe that
 * only this process holds, then kills the server and removes the folder. Returns what ends the shell.
 */
function guard(folder: string): () => void {
  const script = 'cat >/dev/null; kill -9 "$(cat "$1/redis.pid" 2>/dev/null)" 2>/dev/null; rm -rf "$1"';
  const shell: ChildProcess = spawn('sh', ['-c', script, 'sh', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.unref();
  return () => {
    shell.stdin?.end();
  };
}
