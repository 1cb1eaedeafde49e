import { ACCESS_VARIABLES, type AccessDigests } from '../../domain/vocabulary';
import type { ProcessStatus } from '../ops/metrics-port';

/**
 * Whether the processes of an installation call the same service. Those of another address or client take reports away
 * from the others, and the records then show as accepted what another service accepted.
 */

/** Live processes that call different services. */
export interface ServiceDifference {
  /** The variables that differ. */
  readonly variables: readonly string[];
  /** The processes, grouped by the service that they call. */
  readonly hosts: string;
}

type CallingProcess = Pick<ProcessStatus, 'service' | 'isSilent' | 'hostName' | 'processId'>;

/** Null while all live processes that call a service call the same one. */
export function serviceDifference(processes: readonly CallingProcess[]): ServiceDifference | null {
  const callers = processes.flatMap(({ service, isSilent, hostName, processId }) =>
    service === null || isSilent ? [] : [{ service, name: `${hostName} (process ${processId})` }],
  );
  const variables = ACCESS_VARIABLES.filter(
    (variable) => new Set(callers.map(({ service }) => service[variable])).size > 1,
  );
  if (variables.length === 0) return null;
  const namesOf = new Map<string, string[]>();
  for (const { service, name } of callers) {
    const key = ACCESS_VARIABLES.map((variable) => service[variable]).join(' ');
    namesOf.set(key, [...(namesOf.get(key) ?? []), name]);
  }
  return { variables, hosts: [...namesOf.values()].map((names) => names.join(', ')).join(' / ') };
}

/**
 * Whether another live worker calls a different service than this process, which may have sent no heartbeat yet. Only
 * workers count: a console makes no call that has an effect.
 */
export function workersDiffer(processes: readonly ProcessStatus[], own: AccessDigests): boolean {
  const workers = processes.filter(({ role }) => role === 'worker' || role === 'all');
  const self = { service: own, isSilent: false, hostName: '', processId: 0 };
  return serviceDifference([...workers, self]) !== null;
}
