import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../src/platform/log/log';
import { ask } from '../../src/embedded-redis/probe';
import { findServer } from '../../src/embedded-redis/find-server';
import { launch, RedisDidNotStart } from '../../src/embedded-redis/ensure';
import { isGoneWithin, sendSignal } from '../../src/embedded-redis/probe';
import type { ServerBinary } from '../../src/embedded-redis/server-binary';
import { pause } from '../../src/platform/timers';
import { lastingPort } from './lasting-port';
import { PROJECT } from './project';

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
  ask(...command: string[]): Promise<unknown>;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
}

/** Starts a server; the caller stops it. `settings` are Redis's own and override those of the embedded server. */
export async function startTestRedis(settings: Readonly<Record<string, string>> = {}): Promise<TestRedis> {
  const server = await testServer();
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'towhook-redis-')));
  const endGuard = guard(folder);
  const isRestricted = process.env[RESTRICTED] !== undefined;
  const users = isRestricted ? { aclfile: await writeUsers(folder) } : {};
  const launchOn = (port: number) =>
    // A kill loses nothing that Redis wrote to the file: only a power failure would need an fsync.
    launch({ server, folder, port, settings: { appendfsync: 'no', ...users, ...settings } });
  const { port, processId: firstProcessId } = await onFreePort(launchOn);
  let processId: number | null = firstProcessId;
  const running = () => ({ processId: processId ?? 0, port, folder });

  const redis: TestRedis = {
    url: `redis://${isRestricted ? `${USER}@` : ''}127.0.0.1:${port}`,
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
      processId ??= await whilePortIsTaken(() => launchOn(port));
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
      redis.thaw();
      const denied = isRestricted && processId !== null ? await deniedCalls(redis) : [];
      // The data is no longer needed, and an orderly end takes ten times as long.
      await redis.kill();
      await rm(folder, { recursive: true, force: true });
      endGuard();
      if (denied.length > 0) throw new Error(`deploy/redis/users.acl does not allow ${denied.join(', ')}`);
    },
  };
  return redis;
}

/** The server program for tests, fetched if the machine has none. */
export function testServer(): Promise<ServerBinary> {
  const { PATH = '', REDIS_SERVER_BIN = null } = process.env;
  return findServer({ binary: REDIS_SERVER_BIN, searchPath: PATH, log: silentLog });
}

/** Set: `url` is of the user of deploy/redis/users.acl, and `stop` rejects if that user was denied a command. */
export const RESTRICTED = 'TESTS_WITH_RESTRICTED_USER';
const USER = 'towhook:password-of-the-tests';

/** Writes the users of a server: the documented one with a password, and the one of `ask`, who may do everything. */
async function writeUsers(folder: string): Promise<string> {
  const documented = await readFile(join(PROJECT, 'deploy/redis/users.acl'), 'utf8');
  const file = join(folder, 'users.acl');
  const [, password = ''] = USER.split(':');
  await writeFile(file, `${documented.trim()} >${password}\nuser default on nopass ~* &* +@all\n`);
  return file;
}

/** The commands and keys that the server has denied a user. */
async function deniedCalls(redis: Pick<TestRedis, 'ask'>): Promise<string[]> {
  const log = await redis.ask('ACL', 'LOG');
  const entries = Array.isArray(log) ? log : [];
  return entries.map((entry) => {
    const fields = Array.isArray(entry) ? entry.map(String) : [];
    const field = (name: string) => fields[fields.indexOf(name) + 1] ?? '';
    return `${field('reason')} ${field('object')}`;
  });
}

async function onFreePort(start: (port: number) => Promise<number>): Promise<{ port: number; processId: number }> {
  for (;;) {
    const port = await lastingPort();
    try {
      return { port, processId: await start(port) };
    } catch (error) {
      if (!isPortTaken(error)) throw error;
    }
  }
}

/** How long another program may keep the port of a killed server. */
const PORT_TAKEN_MS = 10_000;

/** Repeats a start while another program has the port, such as a server of a test run beside this one. */
async function whilePortIsTaken(start: () => Promise<number>): Promise<number> {
  const givesUpAtMs = performance.now() + PORT_TAKEN_MS;
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if (!isPortTaken(error) || performance.now() > givesUpAtMs) throw error;
    }
    await pause(100);
  }
}

function isPortTaken(error: unknown): boolean {
  return error instanceof RedisDidNotStart && error.isPortTaken;
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
