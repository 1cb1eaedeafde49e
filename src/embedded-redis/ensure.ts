import { readFileSync, renameSync, writeFileSync, closeSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../platform/timers';
import { probe } from './probe';
import { isAlive, type RunningServer } from './probe';
import { type ServerBinary, serverCommand } from './server-binary';
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';

const LOOK_EVERY_MS = 20;
/** Attempts with another port, when a program takes the chosen port before the server does. */
const STARTS_MAX = 5;

export interface EnsureOptions {
  /** The folder of the server, an absolute path without links. */
  readonly folder: string;
  /** Called only when a server must be started. */
  readonly findServer: () => Promise<ServerBinary>;
  readonly settings: Readonly<Record<string, string>>;
  /** The port of a server that is started. */
  readonly port?: number | undefined;
}

/**
 * Returns the server that runs on the folder, or starts one. Must be called under the lock of the folder. A new server
 * first tries the port of the last one: if that one is still starting, the two collide on the port before the second
 * touches any data.
 *
 * @throws RedisDidNotStart, RedisNotAvailable, or Error when a server of this folder runs and does not answer.
 */
export async function ensureServer(options: EnsureOptions): Promise<RunningServer & { readonly wasRunning: boolean }> {
  const { folder } = options;
  for (let start = 1; ; start += 1) {
    const lastPort = readNumber(portFile(folder));
    const running = lastPort === null ? null : await findRunning(lastPort, folder);
    if (running !== null) return { ...running, wasRunning: true };
    const port = options.port ?? (start === 1 ? lastPort : null) ?? (await freePort());
    writeNumber(portFile(folder), port);
    try {
      const server = await options.findServer();
      const processId = await launch({ server, folder, port, settings: options.settings });
      return { processId, port, folder, wasRunning: false };
    } catch (error) {
      if (!isPortTaken(error) || start === STARTS_MAX) throw error;
    }
  }
}

/** The process id in the pid file, which a server removes when it stops gracefully; else null. */
export function recordedProcessId(folder: string): number | null {
  return readNumber(pidFile(folder));
}

async function findRunning(port: number, folder: string): Promise<RunningServer | null> {
  for (;;) {
    const answer = await probe(port, folder);
    switch (answer.state) {
      case 'ready':
        return { processId: answer.processId, port, folder };
      case 'loading':
        await pause(LOOK_EVERY_MS);
        break;
      case 'silent':
        refuseIfOurs(folder);
        return null;
      case 'foreign':
      case 'absent':
        return null;
    }
  }
}

/** Throws if the server of this folder may still run: a second server on the same files would destroy them. */
function refuseIfOurs(folder: string): void {
  const processId = recordedProcessId(folder);
  if (processId === null || !isAlive(processId)) return;
  throw new Error(
    `The Redis server of ${folder} (process ${processId}) runs but does not answer. ` +
      `Let it go on, or end it (kill -9 ${processId}), then start again.`,
  );
}

function isPortTaken(error: unknown): boolean {
  return error instanceof RedisDidNotStart && error.isPortTaken;
}

const portFile = (folder: string) => join(folder, 'port');

function readNumber(file: string): number | null {
  try {
    const number = Number.parseInt(readFileSync(file, 'utf8'), 10);
    return Number.isSafeInteger(number) && number > 0 ? number : null;
  } catch {
    return null;
  }
}

function writeNumber(file: string, number: number): void {
  writeFileSync(`${file}.new`, `${number}\n`);
  renameSync(`${file}.new`, file);
}

const PROBE_INTERVAL_MS = 5;
/** Until the server takes commands, without the time in which it loads its data. */
const START_TIMEOUT_MS = 15_000;

/** The server process ended before it took commands. The message quotes the end of its log. */
export class RedisDidNotStart extends Error {
  override readonly name = 'RedisDidNotStart';

  constructor(
    problem: string,
    /** Another program took the port. */
    readonly isPortTaken: boolean,
    /** By a SIGKILL, usually of the system when memory ran out. */
    readonly wasKilled = false,
  ) {
    super(problem);
  }
}

export interface LaunchOptions {
  readonly server: ServerBinary;
  /** The data folder: exists, an absolute path without links. */
  readonly folder: string;
  readonly port: number;
  /** Redis settings that override the defaults, such as `appendfsync`. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Reachable on this machine only; syncs every write; never evicts data. The last two settings take a third less memory
 * for the same data (docs/operations/data.md); the first of them is named as before Redis 7, which later ones accept.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  bind: '127.0.0.1',
  'protected-mode': 'yes',
  daemonize: 'no',
  appendonly: 'yes',
  appendfsync: 'always',
  save: '',
  'maxmemory-policy': 'noeviction',
  'hash-max-ziplist-value': '2048',
  'list-compress-depth': '1',
};

/**
 * Starts a server and resolves with its process id once it takes commands, however long it loads its data. Its output
 * goes to `redis.log` in its folder. It runs in a separate process group, so that Ctrl-C does not stop it before its
 * users have ended.
 *
 * @throws RedisDidNotStart.
 */
export async function launch(options: LaunchOptions): Promise<number> {
  const logFile = join(options.folder, 'redis.log');
  const log = openSync(logFile, 'a');
  const logStart = fstatSync(log).size;
  const settings = {
    ...SETTINGS,
    port: String(options.port),
    dir: options.folder,
    pidfile: pidFile(options.folder),
    ...options.settings,
  };
  const [program, parameters] = serverCommand(options.server, toParameters(settings));
  const child = spawn(program, parameters, {
    cwd: options.folder,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  try {
    return await untilReady(options, endOf(child), () => readFileSync(logFile).subarray(logStart).toString('utf8'));
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

/** The pid file. Redis removes it when it stops gracefully. */
export function pidFile(folder: string): string {
  return join(folder, 'redis.pid');
}

/** A port that is free now. Another program may take it before it is used. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

function toParameters(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

interface ProcessEnd {
  reason: string | null;
  wasKilled: boolean;
}

function endOf(child: ChildProcess): ProcessEnd {
  const end: ProcessEnd = { reason: null, wasKilled: false };
  child.once('error', (error) => (end.reason = error.message));
  child.once('exit', (code, byName) => {
    end.reason = `ended with ${byName ?? `code ${code}`}`;
    end.wasKilled = byName === 'SIGKILL';
  });
  return end;
}

async function untilReady(options: LaunchOptions, end: ProcessEnd, readLog: () => string): Promise<number> {
  for (let waitedMs = 0; waitedMs < START_TIMEOUT_MS; waitedMs += PROBE_INTERVAL_MS) {
    if (end.reason !== null) {
      const log = readLog();
      const lastLines = log.trim().split('\n').slice(-5).join('\n');
      throw new RedisDidNotStart(
        `Redis did not start in ${options.folder}: ${end.reason}\n${lastLines}`,
        /address already in use|failed listening on port/i.test(log),
        end.wasKilled,
      );
    }
    const answer = await probe(options.port, options.folder);
    if (answer.state === 'ready') return answer.processId;
    if (answer.state === 'loading') waitedMs = 0;
    await pause(PROBE_INTERVAL_MS);
  }
  throw new RedisDidNotStart(`Redis did not take commands within ${START_TIMEOUT_MS} ms in ${options.folder}`, false);
}
