import type { ViolationRecord } from '../contracts/violations';
import type { ViolationState } from '../domain/vocabulary';
import type { Page } from './ports';

/** What the use cases about violations need of the store. How they are sent: outbox-port.ts. */

export interface ViolationFilter {
  readonly state: ViolationState | null;
  /** The beginning of a reference, an id or a plate. */
  readonly search: string | null;
  readonly cursor: string | null;
  readonly limit: number;
}

/** Violations as lists and pages read them; only decisions on drafts change them (transaction-port.ts). */
export interface ViolationStore {
  /** By our id, or by the id in its metadata. */
  read(id: string): Promise<ViolationRecord | null>;
  list(filter: ViolationFilter): Promise<Page<ViolationRecord>>;
}
