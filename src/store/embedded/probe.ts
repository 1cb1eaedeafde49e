import { ask, NoReply, ReplyError } from './ask';
import { codeOf } from '../../platform/system-error';

/** Who answers on a port, seen from one data folder. */
export type Probe =
  /** Nobody listens. */
  | { readonly state: 'nobody' }
  /** Somebody else: another program, or a Redis that keeps its data elsewhere. */
  | { readonly state: 'foreign' }
  /** Somebody takes connections and says nothing: perhaps our server, stopped or stuck. */
  | { readonly state: 'silent' }
  /** The server of this folder; `loading` while it still reads its data back. */
  | { readonly state: 'loading' | 'ready'; readonly processId: number };

/**
 * Finds out whether the Redis server of `folder` (an absolute path without links) answers on `127.0.0.1:port`. The
 * proof is the folder it says it works in, never a recorded process id: those are used again by other programs.
 *
 * @throws only for what the system itself cannot do, such as running out of sockets.
 */
export async function probe(port: number, folder: string, timeoutMs = 2_000): Promise<Probe> {
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
 * Whether the process that answers on the port is this one, or does not answer at all but still has the port. For a
 * server whose folder was removed under it, so that the folder proves nothing any more.
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
    if (error instanceof ReplyError && error.message.startsWith('LOADING')) return true;
    throw error;
  }
}

/** @throws as `ask` does. */
async function askProcessId(port: number, timeoutMs: number): Promise<number | null> {
  const info = await ask(port, ['INFO', 'server'], timeoutMs);
  const match = typeof info === 'string' ? /^process_id:(\d+)/m.exec(info) : null;
  return match === null ? null : Number(match[1]);
}

function stateFromError(error: unknown): Probe {
  if (error instanceof NoReply) return { state: 'silent' };
  if (error instanceof ReplyError) return { state: 'foreign' };
  const code = codeOf(error);
  // A reset means that the listener went away under us.
  if (code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === 'EPIPE') return { state: 'nobody' };
  throw error;
}
