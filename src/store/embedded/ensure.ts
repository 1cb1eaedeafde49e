import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, launch, pidFile, RedisDidNotStart } from './launch';
import { probe } from './probe';
import { isAlive, type RunningServer } from './processes';
import type { ServerBinary } from './server-binary';

const LOOK_EVERY_MS = 20;
/** A port may be lost to another program between its choice and its use, but not this often. */
const STARTS_MAX = 5;

export interface Ensure {
  /** The server's folder, absolute and without links. */
  readonly folder: string;
  /** Only asked for when a server must be started. */
  readonly findServer: () => Promise<ServerBinary>;
  readonly settings: Readonly<Record<string, string>>;
  /** This port and no other, when one must be started. */
  readonly port?: number | undefined;
}

/**
 * The server that runs on the folder, whoever started it, or a new one. To be called under the folder's lock. A new one
 * first tries the port of the last one: should that still be coming up, unseen, the two collide on the port before the
 * second has touched any data.
 *
 * @throws RedisDidNotStart, RedisNotAvailable, or Error when a server of this folder runs and does not answer.
 */
export async function ensureServer(options: Ensure): Promise<RunningServer & { readonly wasRunning: boolean }> {
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

/** The process id that the folder's server wrote down, if it has not ended by itself. */
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
      case 'nobody':
        return null;
    }
  }
}

/** A second server on the same files would destroy them. */
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
