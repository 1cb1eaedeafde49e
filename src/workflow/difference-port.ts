import type { DifferingReport } from '../contracts/differences';
import type { SortOrder } from '../contracts/paging';
import type { Difference } from '../domain/difference';
import { unknown } from '../domain/refusal';
import type { Page } from './list-port';

export const DIFFERENCE_NOT_FOUND = unknown('difference_not_found', 'There is no such kind of difference.').refusal;

/** Kinds of differences as lists and pages read them; only a transaction changes them (transaction-port.ts). */
export interface DifferenceStore {
  read(id: string): Promise<Difference | null>;
  /** All kinds, the oldest first. There are few. */
  all(): Promise<readonly Difference[]>;
  /** The reports and violations that may be sent again because of an open kind, the newest first by default. */
  reports(
    id: string,
    page: { readonly cursor: string | null; readonly limit: number; readonly order?: SortOrder },
  ): Promise<Page<DifferingReport>>;
  /** When one of them was accepted with this kind, ISO 8601; null when it may not be sent again because of it. */
  acceptedAt(
    id: string,
    of: Pick<DifferingReport, 'towing_reference_id' | 'report_id' | 'violation_id'>,
  ): Promise<string | null>;
  /** How many they are. */
  waiting(id: string): Promise<number>;
}
