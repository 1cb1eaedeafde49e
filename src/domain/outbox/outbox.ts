import type { Entry, EntryState } from './entry';
import type { ReportKind, ReportState } from '../vocabulary';

/** The order of an outbox: only its head, the first entry that is not settled, is sent. */

/** An entry in the outbox of a tow. */
export type ReportEntry = Entry & { kind: ReportKind; state: ReportState };

/** A report as far as the rules of facts depend on it. */
export type ReportStatus = Readonly<Pick<ReportEntry, 'id' | 'kind' | 'state' | 'attemptId' | 'possibleEffects'>>;

/** False for the entry of a violation, which alone can be `held`. */
export function isReport(entry: Entry): entry is ReportEntry {
  return entry.kind !== 'violation' && entry.state !== 'held';
}

/** How calls of one kind are sent. The rest of the outbox is the same for all kinds. */
export interface SendingPolicy {
  /** False for a call that creates something: sending it twice may create two. */
  readonly safeToRepeat: boolean;
  /** How many attempts may be left unanswered before a person decides. */
  readonly unansweredMax: number;
  /** How many unanswered attempts stay open after a manual retry. */
  readonly openAfterRetry: number;
  /** True for reports that say where a vehicle is. They get rate limit permits first. */
  readonly isUrgent: boolean;
}

/** True once a report is accepted or waived, so that the next one may leave. */
export function isSettled(state: EntryState): state is SettledState {
  return state === 'accepted' || state === 'waived';
}

type SettledState = 'accepted' | 'waived';
type Reported = { readonly state: EntryState };
/** A report that is still owed. */
export type Unsettled<R extends Reported> = R & { readonly state: Exclude<EntryState, SettledState> };

export function isUnsettled<R extends Reported>(report: R): report is Unsettled<R> {
  return !isSettled(report.state);
}

/** True when a call failed for too long: nothing is sent before a person decides. */
export function isGivenUp({ state, nextAtMs }: Pick<Entry, 'state' | 'nextAtMs'>): boolean {
  return state === 'pending' && nextAtMs === null;
}

/** The head of an outbox, whose reports are in order; undefined when all are settled. */
export function headOf<R extends Reported>(reports: readonly R[]): Unsettled<R> | undefined {
  return reports.find(isUnsettled);
}
