import type { HeartbeatRole, SeriesName, ProcessDocument } from '../../contracts/ops/metrics';
import type { AccessDigests, ServiceMode, QueueName } from '../../domain/vocabulary';
import type { CountedValues } from '../../platform/log/counters';

/** Metrics of all processes together, and the running processes. Timestamps are Redis time, ms since the epoch. */

export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
  /** A multiple of one minute. */
  readonly stepMs: number;
}

/** Null where nothing is known: no running process, nothing timed, or no sample. */
export type Points = readonly (number | null)[];

/** Series over the same timestamps. */
export interface MetricSeries {
  readonly stepMs: number;
  /** When each step begins: multiples of `stepMs`, from the one that contains `fromMs` to the last before `toMs`. */
  readonly atMs: readonly number[];
  /** One point per timestamp. Units: contracts/ops/metrics.ts. */
  readonly lines: Readonly<Record<SeriesName, Points>>;
  /** From here on values still grow: the current minute. */
  readonly completeUntilMs: number;
}

export interface MetricsStore {
  /**
   * Throws RangeError when the step is not a multiple of one minute, or the range is empty or longer than the
   * retention.
   */
  series(range: TimeRange): Promise<MetricSeries>;
}

/** A process with a recent heartbeat. */
export interface ProcessStatus {
  readonly id: string;
  readonly role: HeartbeatRole;
  readonly mode: ServiceMode;
  readonly hostName: string;
  readonly processId: number;
  /** The version of towhook. */
  readonly version: string;
  /** The schema of stored data that it writes. */
  readonly schema: number;
  readonly nodeVersion: string;
  readonly startedAtMs: number;
  readonly beatAtMs: number;
  readonly beatAgeMs: number;
  /** True when the last heartbeat is too old: the process died, is frozen, or cannot reach Redis. */
  readonly isSilent: boolean;
  /** As of its last heartbeat. */
  readonly isReady: boolean;
  /** Names of the failing readiness checks: `spool`, `worker`. */
  readonly problems: readonly string[];
  /** Ids of the data keys that stored data needs and that it lacks. */
  readonly missingDataKeys: readonly string[];
  /** Identifies the service that it calls; null for a process that calls none. */
  readonly service: AccessDigests | null;
  /** How far its clock is ahead of that of Redis; negative: behind; 0 while they differ by less than 30 s. */
  readonly clockOffsetSeconds: number;
  /** Empty for a process without a worker. */
  readonly queues: readonly QueueStatus[];
}

export interface QueueStatus {
  readonly name: QueueName;
  /** When it last began a job; null when it has not since its start. */
  readonly lastTookAtMs: number | null;
  /** True when work is waiting and this worker completes none. */
  readonly isStalled: boolean;
}

export interface ProcessStore {
  /** By role, oldest first. A stopped process disappears at once, a silent one after an hour. */
  list(): Promise<readonly ProcessStatus[]>;
}

/** The heartbeat of a process. */
export interface Heartbeat {
  readonly id: string;
  readonly uptimeMs: number;
  readonly document: ProcessDocument;
}

/**
 * Both add what was counted since the last call. They are never repeated, so nothing is counted twice; when one
 * rejects, its counts may be lost.
 */
export interface HeartbeatStore {
  /** `maySample` is true for one process at a time, which then samples the gauges. `atMs`: Redis time. */
  beat(process: Heartbeat, counted: CountedValues): Promise<{ readonly maySample: boolean; readonly atMs: number }>;
  /** Removes a process that stops. */
  leave(id: string, counted: CountedValues): Promise<void>;
}

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
