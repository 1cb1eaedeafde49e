import type { Finding } from '../cli';
import type { Redis } from '../store/connect';
import { createProcessStore } from '../store/processes';
import { serviceDifference } from '../workflow/called-service';
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

function namesOf(processes: readonly { readonly hostName: string; readonly processId: number }[]): string {
  return processes.map(({ hostName, processId }) => `process ${processId} on ${hostName}`).join(', ');
}
