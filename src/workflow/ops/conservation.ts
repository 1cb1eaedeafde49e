import type { ConservationCounts, ConservationView } from '../../contracts/ops/conservation';
import { isoOrNull } from '../../domain/timestamp';

/**
 * The conservation check: everything acknowledged or recorded is in exactly one state, and nothing is lost. A scan
 * reads each record in small steps and counts; counts are never subtracted.
 */
export interface ConservationStore {
  /** Runs one step of the scan that all processes share. A step that comes too early does nothing. */
  step(): Promise<ScanStep>;
  /** The last complete scan; null before the first. */
  lastScan(): Promise<ConservationScan | null>;
}

export interface ScanStep {
  /** True when this step completed a scan. */
  readonly isLast: boolean;
  /** How long to wait before the next step, ms. */
  readonly waitMs: number;
}

/** The result of a complete scan. Timestamps are Redis time. */
export interface ConservationScan {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly ageMs: number;
  readonly deliveries: ConservationCounts;
  readonly reports: ConservationCounts;
  readonly violations: ConservationCounts;
  /**
   * The first 100 lost items: `delivery <id>`, `violation <id>`, `report <towing reference> <place in its outbox>`,
   * or `tow <towing reference>` when the whole record is gone; that counts as one report.
   */
  readonly lostNames: readonly string[];
}

type ByKind = Pick<ConservationScan, 'deliveries' | 'reports' | 'violations'>;

export const NO_COUNTS: ConservationCounts = {
  acknowledged: 0,
  finished: 0,
  waiting: 0,
  parked: 0,
  with_a_person: 0,
  lost: 0,
  repaired: 0,
};

/** The sum over deliveries, reports and violations. */
export function totalOf({ deliveries, reports, violations }: ByKind): ConservationCounts {
  const sumOf = (name: keyof ConservationCounts) => deliveries[name] + reports[name] + violations[name];
  return {
    acknowledged: sumOf('acknowledged'),
    finished: sumOf('finished'),
    waiting: sumOf('waiting'),
    parked: sumOf('parked'),
    with_a_person: sumOf('with_a_person'),
    lost: sumOf('lost'),
    repaired: sumOf('repaired'),
  };
}

/** The last complete scan as the API shows it; all counts are 0 before the first. */
export function conservationViewOf(scan: ConservationScan | null): ConservationView {
  const { deliveries, reports, violations } = scan ?? {
    deliveries: NO_COUNTS,
    reports: NO_COUNTS,
    violations: NO_COUNTS,
  };
  return {
    ...totalOf({ deliveries, reports, violations }),
    lost_names: [...(scan?.lostNames ?? [])],
    by_kind: { deliveries, reports, violations },
    started_at: isoOrNull(scan?.startedAtMs ?? null),
    ended_at: isoOrNull(scan?.endedAtMs ?? null),
    check_ms: scan ? scan.endedAtMs - scan.startedAtMs : null,
  };
}
