import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../platform/timers';
import { freePort, launch, pidFile, RedisDidNotStart } from './launch';
import { probe } from './probe';
import { isAlive, type RunningServer } from './processes';
import type { ServerBinary } from './server-binary';

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
