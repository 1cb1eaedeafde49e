import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { ask, type Reply } from '../../src/store/embedded/ask';
import { findServer } from '../../src/store/embedded/find-server';
import { freePort, launch, RedisDidNotStart } from '../../src/store/embedded/launch';
import { isGoneWithin, sendSignal } from '../../src/store/embedded/processes';
import type { ServerBinary } from '../../src/store/embedded/server-binary';

/** Ends a command or a kill that hangs; on a busy machine a reply may take seconds. */
const HANGS_AFTER_MS = 30_000;

/** A Redis server with its data in a temporary folder. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  readonly processId: number;
  /** Kills the server with SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Starts a killed server again, on the same port and data. */
  start(): Promise<void>;
  /** Kills it and starts it again. */
  restart(): Promise<void>;
  /** Stops the process with SIGSTOP: connections stay open, nothing answers. */
  freeze(): void;
  /** Continues a frozen process. */
  thaw(): void;
  /** Sends one command over a connection of its own. */
  ask(...command: string[]): Promise<Reply>;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
}

/** Starts a server; the caller stops it. `settings` are Redis's own and override those of the embedded server. */
export async function startTestRedis(settings: Readonly<Record<string, string>> = {}): Promise<TestRedis> {
  const server = await testServer();
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'towhook-redis-')));
  const endGuard = guard(folder);
  const launchOn = (port: number) =>
    // A kill loses nothing that Redis wrote to the file: only a power failure would need an fsync.
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
      if (!(await isGoneWithin(running(), HANGS_AFTER_MS))) throw new Error('the server survived its killing');
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
    ask: (...command) => ask(port, command, HANGS_AFTER_MS),
    async stop() {
      // The data is not needed any more, and an orderly end takes ten times as long.
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
 * Ends the server and removes its folder when this process ends, even by SIGKILL: a shell reads from a pipe that only
 * this process holds open. Returns a function that ends the shell. Neither the shell nor the pipe keeps this process
 * running.
 */
function guard(folder: string): () => void {
  const script = 'cat >/dev/null; kill -9 "$(cat "$1/redis.pid" 2>/dev/null)" 2>/dev/null; rm -rf "$1"';
  const shell: ChildProcess = spawn('sh', ['-c', script, 'sh', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return () => {
    shell.stdin?.end();
  };
}
