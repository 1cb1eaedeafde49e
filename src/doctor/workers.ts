import type { Finding } from '../cli';
import { isoTimestamp } from '../domain/timestamp';
import type { ServiceMode } from '../domain/vocabulary';
import type { Redis } from '../store/redis/connect';
import { createProcessStore } from '../store/ops/processes';
import { createWithheldStore } from '../store/outbox/withheld';
import { serviceDifference } from '../workflow/service/called-service';
import { notesOf } from './finding';

const notes = notesOf('worker');

/** Checks by the heartbeats in Redis that a process with a worker runs and makes progress. */
export async function checkWorkers(redis: Redis): Promise<Finding> {
  const processes = await createProcessStore(redis).list();
  const difference = serviceDifference(processes);
  if (difference !== null) {
    return notes.fault(
      'services_differ',
      `processes on this Redis call different services (${difference.variables.join(', ')}): ${difference.hosts}`,
      'Stop the process that does not belong here, or give every process equal values and restart them. While workers differ, they send nothing.',
    );
  }
  const workers = processes.filter(({ role }) => role === 'worker' || role === 'all');
  const alive = workers.filter(({ isSilent }) => !isSilent);
  const working = alive.filter(({ queues }) => !queues.some(({ isStalled }) => isStalled));
  if (working.length > 0) return notes.fine('worker_runs', `workers that make progress: ${working.length}`);
  if (alive.length > 0) {
    return notes.fault(
      'worker_stalled',
      `no worker makes progress: ${namesOf(alive)}`,
      'Look at the log of the worker, and end the process if it does not recover: another start continues its work.',
    );
  }
  if (workers.length > 0) {
    return notes.fault(
      'worker_silent',
      `no worker sends heartbeats: ${namesOf(workers)}`,
      'Start it again (npm start -- all, or -- worker) if it has died; else look at its log and at its way to Redis.',
    );
  }
  return notes.fault(
    'worker_missing',
    'no worker runs: webhooks are stored, and nothing is sent to the service',
    'Start it (npm start -- all, or -- worker) with the REDIS_URL of this environment.',
  );
}

/**
 * Whether the installation sends: by the circuit and the heartbeats in Redis, since the processes may have another
 * environment than this one.
 */
export async function checkMode(redis: Redis, ownMode: ServiceMode): Promise<Finding> {
  const [processes, { sinceMs, isSwitchedOff }] = await Promise.all([
    createProcessStore(redis).list(),
    createWithheldStore(redis).summary(),
  ]);
  const alive = processes.filter(({ isSilent }) => !isSilent);
  const shadows = alive.filter(({ mode }) => mode === 'shadow');
  const modes = notesOf('mode');
  if (sinceMs !== null || shadows.length > 0) {
    const since = sinceMs === null ? '' : ` since ${isoTimestamp(sinceMs)}`;
    const causes = [
      ...(isSwitchedOff ? ['switched by ops'] : []),
      ...(shadows.length === 0 ? [] : [`SERVICE_MODE=shadow: ${namesOf(shadows)}`]),
    ];
    const what = `shadow mode${since}: nothing is sent to the service but the token call; ${causes.join('; ')}`;
    const remedies = [
      ...(shadows.length === 0 ? [] : ['start all processes with SERVICE_MODE=live']),
      ...(isSwitchedOff ? ['towhook mode live --reason …'] : []),
    ];
    return modes.warning('shadow_mode', what, `To go live: ${remedies.join(', then ')}.`);
  }
  if (alive.length === 0) return modes.skipped('not_looked_at', 'no process runs');
  if (ownMode === 'live') return modes.fine('live_mode', 'every process runs with SERVICE_MODE=live');
  const what = 'the processes run live and send to the service, but this environment has SERVICE_MODE=shadow';
  return modes.warning('mode_differs', what, 'If nothing is to be sent, start all processes with SERVICE_MODE=shadow.');
}

function namesOf(processes: readonly { readonly hostName: string; readonly processId: number }[]): string {
  return processes.map(({ hostName, processId }) => `process ${processId} on ${hostName}`).join(', ');
}
