import { setTimeout as pause } from 'node:timers/promises';
import { probe } from './probe';
import { codeOf } from '../../platform/system-error';

const LOOK_EVERY_MS = 5;
/** Asking the port is dearer than asking for the process, so it is done at every so many looks. */
const LOOKS_PER_PROBE = 50;

/** Whether a process of this id exists on this machine; another user's counts. */
export function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** Sends a signal to a process; nothing happens when it is gone. */
export function sendSignal(processId: number, signal: NodeJS.Signals): void {
  if (isAlive(processId)) process.kill(processId, signal);
}

/** A Redis server that runs. */
export interface RunningServer {
  readonly processId: number;
  readonly port: number;
  readonly folder: string;
}

/**
 * Asks the server to end, which first writes out all it holds, and kills it when that takes longer than `timeoutMs`.
 * Resolves when it is gone.
 */
export async function endServer(server: RunningServer, timeoutMs: number): Promise<void> {
  sendSignal(server.processId, 'SIGTERM');
  if (await isGoneWithin(server, timeoutMs)) return;
  sendSignal(server.processId, 'SIGKILL');
  await isGoneWithin(server, timeoutMs);
}

/** False when the server still runs after `timeoutMs`. */
export async function isGoneWithin(server: RunningServer, timeoutMs: number): Promise<boolean> {
  for (let look = 1; look * LOOK_EVERY_MS < timeoutMs; look += 1) {
    if (!isAlive(server.processId)) return true;
    // Where nobody collects ended processes (containers) their ids stay taken; a closed port is the end, too.
    if (look % LOOKS_PER_PROBE === 0 && (await probe(server.port, server.folder)).state === 'nobody') return true;
    await pause(LOOK_EVERY_MS);
  }
  return false;
}
