import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { probe } from './probe';
import { serverCommand, type ServerBinary } from './server-binary';

/** How often a starting server is looked at. */
const LOOK_EVERY_MS = 5;
/** From the start of the process until it takes commands; reading its data back is not counted. */
const START_TIMEOUT_MS = 15_000;

/** The server process ended before it took commands; the message carries its own last words. */
export class RedisDidNotStart extends Error {
  override readonly name = 'RedisDidNotStart';

  constructor(
    problem: string,
    /** Another program took the port first. */
    readonly isPortTaken: boolean,
  ) {
    super(problem);
  }
}

export interface Launch {
  readonly server: ServerBinary;
  /** Where it keeps its data: an existing folder, absolute and without links. */
  readonly folder: string;
  readonly port: number;
  /** Redis settings over those below; `appendfsync` for example. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Only this machine can reach it, every write is kept, and nothing is ever thrown away to make room. */
const SETTINGS: Readonly<Record<string, string>> = {
  bind: '127.0.0.1',
  'protected-mode': 'yes',
  daemonize: 'no',
  appendonly: 'yes',
  appendfsync: 'always',
  save: '',
  'maxmemory-policy': 'noeviction',
};

/**
 * Starts a server and resolves with its process id once it takes commands, however long it reads its data back. What it
 * says goes to `redis.log` in its folder. It is in a process group of its own: Ctrl-C at the terminal ends us, and we
 * end it when nobody needs it any more.
 *
 * @throws RedisDidNotStart.
 */
export async function launch(options: Launch): Promise<number> {
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

/** Redis writes its process id here and removes the file when it ends by itself. */
export function pidFile(folder: string): string {
  return join(folder, 'redis.pid');
}

/** A port that is free at this moment; another program may take it before it is used. */
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

interface End {
  reason: string | null;
}

function endOf(child: ChildProcess): End {
  const end: End = { reason: null };
  child.once('error', (error) => (end.reason = error.message));
  child.once('exit', (code, byName) => (end.reason = `ended with ${byName ?? `code ${code}`}`));
  return end;
}

async function untilReady(options: Launch, end: End, readLog: () => string): Promise<number> {
  for (let waitedMs = 0; waitedMs < START_TIMEOUT_MS; waitedMs += LOOK_EVERY_MS) {
    if (end.reason !== null) {
      const words = readLog();
      const lastLines = words.trim().split('\n').slice(-5).join('\n');
      throw new RedisDidNotStart(
        `Redis did not start in ${options.folder}: ${end.reason}\n${lastLines}`,
        /address already in use|failed listening on port/i.test(words),
      );
    }
    const answer = await probe(options.port, options.folder);
    if (answer.state === 'ready') return answer.processId;
    if (answer.state === 'loading') waitedMs = 0;
    await pause(LOOK_EVERY_MS);
  }
  throw new RedisDidNotStart(`Redis did not take commands within ${START_TIMEOUT_MS} ms in ${options.folder}`, false);
}
