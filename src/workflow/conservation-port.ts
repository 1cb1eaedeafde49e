import type { Tally } from '../contracts/conservation';

/**
 * Everything acknowledged or recorded is always in exactly one state, and none is lost. A scan reads each record, some at a
 * time; counters are never subtracted.
 */
export interface ConservationStore {
  /** Takes one step of the scan that all processes share; one that comes too early does nothing. */
  step(): Promise<WalkStep>;
  /** The last complete scan; null before the first. */
  lastWalk(): Promise<Walk | null>;
}

export interface WalkStep {
  /** True when this step completed a scan. */
  readonly isLast: boolean;
  /** When the next step is worth while. */
  readonly waitMs: number;
}

/** What a complete scan has found. Moments are Redis time. */
export interface Walk {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** How long ago it ended. */
  readonly ageMs: number;
  readonly deliveries: Tally;
  readonly reports: Tally;
  readonly violations: Tally;
  /**
   * The first of those found lost: `delivery <id>`, `violation <id>`, `report <towing reference> <place in its outbox>`, or
   * `tow <towing reference>` when the whole record is gone; that counts as one report.
   */
  readonly lostNames: readonly string[];
}
