import type { ProcessStatus } from './metrics-port';

/** The states of a process: silent means that its heartbeats have stopped. */
export const PROCESS_STATES = ['ready', 'not_ready', 'silent'] as const;
export type ProcessState = (typeof PROCESS_STATES)[number];

/** The state of a process by its last heartbeat. Null for a silent one that another has replaced. */
export function processStateOf(status: ProcessStatus, all: readonly ProcessStatus[]): ProcessState | null {
  if (status.isSilent) return isReplaced(status, all) ? null : 'silent';
  return status.isReady ? 'ready' : 'not_ready';
}

/** True if another process of the role started after this one stopped reporting. */
export function isReplaced(silent: ProcessStatus, all: readonly ProcessStatus[]): boolean {
  return all.some(
    ({ role, isSilent, startedAtMs }) => !isSilent && role === silent.role && startedAtMs >= silent.beatAtMs,
  );
}
