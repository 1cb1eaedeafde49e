import type { BeatingRole, Line, ProcessDocument } from '../contracts/figures';
import type { Backlog } from '../domain/figures';
import type { Tallied } from '../platform/tally';

/** Figures of all processes together, and which processes live. Moments are Redis time, ms since the epoch. */

export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
  /** A whole number of minutes. */
  readonly stepMs: number;
}

/** Null where nothing is known: no process lived, nothing was timed, or nobody looked. */
export type Points = readonly (number | null)[];

/** Lines over the same moments. */
export interface Series {
  readonly stepMs: number;
  /** When each step begins: whole multiples of `stepMs`, from the one that holds `fromMs` to the last before `toMs`. */
  readonly atMs: readonly number[];
  /** As many points each as there are moments. Units: contracts/figures.ts. */
  readonly lines: Readonly<Record<Line, Points>>;
  /** From here on figures still grow: the minute that runs. */
  readonly completeUntilMs: number;
}

export interface FiguresStore {
  /** Throws RangeError when the step is not a whole number of minutes, or the range empty or longer than figures are kept. */
  series(range: Range): Promise<Series>;
  /** How many tasks are open now. */
  openTasks(): Promise<number>;
}

/** A process that has said lately that it lives. */
export interface ProcessStanding {
  readonly id: string;
  readonly role: BeatingRole;
  readonly hostName: string;
  readonly processId: number;
  /** Of towhook. */
  readonly version: string;
  readonly nodeVersion: string;
  readonly startedAtMs: number;
  readonly beatAtMs: number;
  /** How long ago that was. */
  readonly beatAgeMs: number;
  /** It has not been heard of for so long that it has died, is frozen, or cannot reach Redis. */
  readonly isSilent: boolean;
  /** As of its last beat. */
  readonly isReady: boolean;
  /** Names of the readiness checks that fail: `spool`, `worker`. */
  readonly problems: readonly string[];
  /** Empty for a process without a worker. */
  readonly queues: readonly QueueStanding[];
}

export interface QueueStanding {
  readonly name: Backlog;
  /** When it last began a piece of work; null when it has not since it started. */
  readonly lastTookAtMs: number | null;
  /** Work waits and this worker does none of it. */
  readonly standsStill: boolean;
}

export interface ProcessStore {
  /** By role, the oldest first. A process that stopped in good order is gone at once, one that fell silent after an hour. */
  list(): Promise<readonly ProcessStanding[]>;
}

/** A process that says that it lives. */
export interface BeatingProcess {
  readonly id: string;
  /** How long ago it started, ms. */
  readonly uptimeMs: number;
  readonly document: ProcessDocument;
}

/**
 * Both take along what was counted since the last time. They are never repeated: when one rejects, what it took along is
 * lost, or was counted although the answer was lost. It is never counted twice.
 */
export interface BeatStore {
  /** `maySample` is true for one process at a time: it is to look at the backlog and count its levels. */
  beat(process: BeatingProcess, counted: Tallied): Promise<{ readonly maySample: boolean }>;
  /** The process stops. */
  leave(id: string, counted: Tallied): Promise<void>;
}
