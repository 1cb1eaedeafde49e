import { pause } from '../platform/timers';
import { probe } from './probe';
import { errorCode } from '../platform/errors';

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
