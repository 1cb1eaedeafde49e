import { Redis, ReplyError } from 'ioredis';
import { errorCode } from '../platform/errors';
import { isSettledWithin, pause } from '../platform/timers';

/** The server accepted the connection and did not reply in time. */
export class NoReply extends Error {
  override readonly name = 'NoReply';
}

/** The server does not speak the Redis protocol, or closed the connection without a reply. */
export class NotRedis extends Error {
  override readonly name = 'NotRedis';
}

/**
 * Sends one command to the server on `127.0.0.1:port` over a connection of its own.
 *
 * @throws ReplyError when Redis replies with an error (`LOADING …`, `NOAUTH …`); NotRedis; NoReply after `timeoutMs`; or
 *   the error of the socket (`ECONNREFUSED`).
 */
export async function ask(port: number, command: readonly string[], timeoutMs = 1_000): Promise<unknown> {
  const [name = '', ...parameters] = command;
  const client = new Redis(port, '127.0.0.1', {
    lazyConnect: true,
    retryStrategy: null,
    enableReadyCheck: false,
    disableClientInfo: true,
    protocol: 2,
  });
  let broken: unknown = null;
  client.on('error', (error) => (broken ??= error));
  const asked = client.connect().then(() => client.call(name, parameters));
  try {
    if (await isSettledWithin(timeoutMs, asked)) return await asked;
    throw new NoReply(`no reply from port ${port} within ${timeoutMs} ms`);
  } catch (error) {
    if (error instanceof NoReply || isReply(error)) throw error;
    throw errorCode(broken) === null ? new NotRedis(`port ${port} gave no reply of Redis`) : broken;
  } finally {
    client.disconnect();
  }
}

/** Which server answers on a port, seen from one data folder. */
export type PortState =
  /** No program listens. */
  | { readonly state: 'absent' }
  /** Another program, or a Redis with another data folder. */
  | { readonly state: 'foreign' }
  /** A program does not reply, or only with errors: it may be the server of this folder, frozen or with a password. */
  | { readonly state: 'silent' }
  /** The server of this folder; `loading` while it loads its data. */
  | { readonly state: 'loading' | 'ready'; readonly processId: number };

/**
 * Checks whether the Redis server of `folder` (an absolute path without links) answers on `127.0.0.1:port`. The server is
 * identified by its working folder. A recorded process id may belong to another program by now.
 *
 * @throws Error for failures of the system, such as no free sockets.
 */
export async function probe(port: number, folder: string, timeoutMs = 2_000): Promise<PortState> {
  try {
    const answer = await ask(port, ['CONFIG', 'GET', 'dir'], timeoutMs);
    if (!Array.isArray(answer) || answer[1] !== folder) return { state: 'foreign' };
    const processId = await askProcessId(port, timeoutMs);
    if (processId === null) return { state: 'foreign' };
    return { state: (await isLoading(port, timeoutMs)) ? 'loading' : 'ready', processId };
  } catch (error) {
    return stateFromError(error);
  }
}

/**
 * True if this process answers on the port, or the program on the port does not reply. For a server whose folder was
 * removed, so that the folder no longer identifies it.
 */
export async function isServedBy(port: number, processId: number, timeoutMs = 2_000): Promise<boolean> {
  try {
    return (await askProcessId(port, timeoutMs)) === processId;
  } catch (error) {
    return error instanceof NoReply;
  }
}

async function isLoading(port: number, timeoutMs: number): Promise<boolean> {
  try {
    await ask(port, ['PING'], timeoutMs);
    return false;
  } catch (error) {
    if (isReply(error) && error.message.startsWith('LOADING')) return true;
    throw error;
  }
}

/** @throws as `ask` does. */
async function askProcessId(port: number, timeoutMs: number): Promise<number | null> {
  const info = await ask(port, ['INFO', 'server'], timeoutMs);
  const match = typeof info === 'string' ? /^process_id:(\d+)/m.exec(info) : null;
  return match === null ? null : Number(match[1]);
}

function stateFromError(error: unknown): PortState {
  if (error instanceof NoReply || isReply(error)) return { state: 'silent' };
  if (error instanceof NotRedis) return { state: 'foreign' };
  const code = errorCode(error);
  // A reset means that the listener has ended.
  if (code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === 'EPIPE') return { state: 'absent' };
  throw error;
}

/** The class of the library is not typed as an Error. */
function isReply(error: unknown): error is Error {
  return error instanceof ReplyError;
}

/** How long a server may take to stop gracefully. */
export const END_TIMEOUT_MS = 10_000;
const CHECK_INTERVAL_MS = 5;
/** Probing the port costs more than checking the process, so only every 50th check does it. */
const CHECKS_PER_PROBE = 50;

/** True if a process with this id exists, including those of other users. */
export function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Sends a signal to a process, if it exists. */
export function sendSignal(processId: number, signal: NodeJS.Signals): void {
  if (isAlive(processId)) process.kill(processId, signal);
}

/** A running Redis server. */
export interface RunningServer {
  readonly processId: number;
  readonly port: number;
  readonly folder: string;
}

/** Stops the server gracefully, with its data written to disk, and kills it after `timeoutMs`. */
export async function endServer(server: RunningServer, timeoutMs: number): Promise<void> {
  sendSignal(server.processId, 'SIGTERM');
  if (await isGoneWithin(server, timeoutMs)) return;
  sendSignal(server.processId, 'SIGKILL');
  await isGoneWithin(server, timeoutMs);
}

/** False when the server still runs after `timeoutMs`. */
export async function isGoneWithin(server: RunningServer, timeoutMs: number): Promise<boolean> {
  for (let check = 1; check * CHECK_INTERVAL_MS < timeoutMs; check += 1) {
    if (!isAlive(server.processId)) return true;
    // Without an init process (containers) the ids of ended processes stay in use, so a closed port also counts.
    if (check % CHECKS_PER_PROBE === 0 && (await probe(server.port, server.folder)).state === 'absent') return true;
    await pause(CHECK_INTERVAL_MS);
  }
  return false;
}
