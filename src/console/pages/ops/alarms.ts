import type { ConservationView } from '../../../contracts/conservation';
import type { BeatingRole } from '../../../contracts/figures';
import type { SendingView } from '../../../contracts/operator';
import type { Backlog } from '../../../domain/figures';
import type { PausableOperation } from '../../../domain/vocabulary';
import type { ProcessStanding } from '../../../workflow/figures-port';
import type { Queue } from './read';

/** What is wrong, from what is known of all processes; the worst first. */

export type Alarm =
  | { readonly kind: 'connection' | 'outage'; readonly since: string | null; readonly nextTryAt: string | null }
  | {
      readonly kind: 'paused';
      readonly operation: PausableOperation;
      readonly since: string | null;
      readonly nextTryAt: string | null;
    }
  | { readonly kind: 'failing'; readonly failures: number }
  | { readonly kind: 'attemptsFail'; readonly failed: number; readonly made: number }
  | { readonly kind: 'lost'; readonly count: number }
  | { readonly kind: 'recordsMissing'; readonly since: string }
  | { readonly kind: 'walkOld'; readonly since: string | null }
  | { readonly kind: 'nobody'; readonly role: 'worker' | 'receiver' }
  | { readonly kind: 'silent'; readonly role: BeatingRole; readonly host: string; readonly since: string }
  | { readonly kind: 'standsStill'; readonly queue: Backlog; readonly host: string }
  | { readonly kind: 'unready'; readonly role: BeatingRole; readonly host: string; readonly checks: string }
  | { readonly kind: 'queuePaused'; readonly queue: Backlog }
  | { readonly kind: 'backlogOld'; readonly queue: Backlog; readonly ageMs: number }
  | { readonly kind: 'failedJobs'; readonly queue: Backlog; readonly count: number }
  | { readonly kind: SystemTask };

/** Tasks that are about the machinery and not about a tow. */
export const SYSTEM_TASKS = ['archive_failing', 'delivery_failing'] as const;
export type SystemTask = (typeof SYSTEM_TASKS)[number];

/** bad: work stands still or something is lost. wait: it goes on, and somebody should look all the same. */
export type Severity = 'bad' | 'wait';

export interface Known {
  readonly sending: SendingView;
  readonly queues: readonly Queue[];
  readonly conservation: ConservationView;
  readonly processes: readonly ProcessStanding[];
  /** Since when Redis lacks the records of the disk of images; null when it has them. */
  readonly recordsMissingSince: string | null;
  /** Those of the system's tasks that are open. */
  readonly systemTasks: readonly SystemTask[];
  /** All that wait for people. */
  readonly openTasks: number;
  /** Tries to send within the last minutes, and how many of them came to nothing. */
  readonly attempts: { readonly made: number; readonly failed: number };
  readonly nowMs: number;
}

/** What the service sends is processed within a minute (field-notes); what has been due for longer is late. */
const LATE_AFTER_MS = 60_000;
/** A hundred thousand names are walked in two minutes. */
const WALK_OLD_AFTER_MS = 15 * 60_000;

/** A service that works may fail now and then; four times without one success between them are no accident. */
export const FAILURES_BORNE = 3;
/** Of fewer tries within some minutes half may fail by chance. */
const ATTEMPTS_FAILED_BORNE = 10;

export function alarmsOf(known: Known): readonly Alarm[] {
  const alarms = [
    ...ofConservation(known),
    ...(known.recordsMissingSince === null
      ? []
      : [{ kind: 'recordsMissing' as const, since: known.recordsMissingSince }]),
    ...ofSending(known.sending),
    ...ofAttempts(known),
    ...ofProcesses(known.processes),
    ...known.queues.flatMap(ofQueue),
    ...known.systemTasks.map((kind) => ({ kind })),
  ];
  return alarms.toSorted((a, b) => RANK[severityOf(a)] - RANK[severityOf(b)]);
}

const RANK: Readonly<Record<Severity, number>> = { bad: 0, wait: 1 };

export function severityOf({ kind }: Alarm): Severity {
  switch (kind) {
    case 'connection':
    case 'outage':
    case 'paused':
    case 'lost':
    case 'recordsMissing':
    case 'nobody':
    case 'standsStill':
    case 'backlogOld':
      return 'bad';
    case 'failing':
    case 'attemptsFail':
    case 'walkOld':
    case 'silent':
    case 'unready':
    case 'queuePaused':
    case 'failedJobs':
    case 'archive_failing':
    case 'delivery_failing':
      return 'wait';
  }
}

function ofSending({ connection, service, operations }: SendingView): Alarm[] {
  return [
    ...(connection.state === 'broken'
      ? [{ kind: 'connection' as const, since: connection.since, nextTryAt: connection.next_try_at }]
      : []),
    ...(service.state === 'down'
      ? [{ kind: 'outage' as const, since: service.since, nextTryAt: service.next_try_at }]
      : []),
    ...operations
      .filter(({ state }) => state === 'paused')
      .map(({ operation, since, next_try_at }) => ({
        kind: 'paused' as const,
        operation,
        since,
        nextTryAt: next_try_at,
      })),
  ];
}

/** Most tries fail, though nothing is held back: of an outage its own alarm tells, and why what is tried is refused the tasks. */
function ofAttempts({ sending: { service }, attempts: { made, failed } }: Known): Alarm[] {
  if (service.state === 'down') return [];
  if (service.failures > FAILURES_BORNE) return [{ kind: 'failing', failures: service.failures }];
  const isMost = failed > ATTEMPTS_FAILED_BORNE && failed * 2 > made;
  return isMost ? [{ kind: 'attemptsFail', failed, made }] : [];
}

function ofConservation({ conservation, nowMs }: Known): Alarm[] {
  const { lost, ended_at: endedAt } = conservation;
  if (lost > 0) return [{ kind: 'lost', count: lost }];
  // Before the first walk nothing is known; whether anybody walks is seen by the workers.
  const isOld = endedAt !== null && nowMs - Date.parse(endedAt) > WALK_OLD_AFTER_MS;
  return isOld ? [{ kind: 'walkOld', since: endedAt }] : [];
}

function ofProcesses(processes: readonly ProcessStanding[]): Alarm[] {
  const missing = (['worker', 'receiver'] as const).filter(
    (needed) => !processes.some(({ role, isSilent }) => !isSilent && (role === needed || role === 'all')),
  );
  return [
    ...missing.map((role) => ({ kind: 'nobody' as const, role })),
    ...processes.flatMap((each) => ofProcess(each, processes)),
  ];
}

function ofProcess(standing: ProcessStanding, all: readonly ProcessStanding[]): Alarm[] {
  const { role, hostName: host } = standing;
  if (standing.isSilent) {
    if (isReplaced(standing, all)) return [];
    return [{ kind: 'silent', role, host, since: new Date(standing.beatAtMs).toISOString() }];
  }
  const still = standing.queues.filter(({ standsStill }) => standsStill);
  if (still.length > 0) return still.map(({ name }) => ({ kind: 'standsStill', queue: name, host }));
  return standing.isReady ? [] : [{ kind: 'unready', role, host, checks: standing.problems.join(', ') }];
}

/** True when another of its role lives that started after this one was last heard of: a crash that was made up for. */
export function isReplaced(silent: ProcessStanding, all: readonly ProcessStanding[]): boolean {
  return all.some(
    ({ role, isSilent, startedAtMs }) => !isSilent && role === silent.role && startedAtMs >= silent.beatAtMs,
  );
}

function ofQueue({ name, paused, due, oldest_age_ms: ageMs, failed }: Queue): Alarm[] {
  const isLate = due > 0 && ageMs > LATE_AFTER_MS;
  return [
    ...(paused ? [{ kind: 'queuePaused' as const, queue: name }] : []),
    // Of a queue that is paused this is what was asked for.
    ...(isLate && !paused ? [{ kind: 'backlogOld' as const, queue: name, ageMs }] : []),
    ...(failed > 0 ? [{ kind: 'failedJobs' as const, queue: name, count: failed }] : []),
  ];
}
