import type { EntryState } from './entry';
import { timestampMs } from '../timestamp';
import { headOf } from './outbox';
import type { Tow } from '../tow/tow';
import type { WithheldState, TowState } from '../vocabulary';

/** When a tow is shown as overdue. Nothing else follows from it. */

/** Limits per reason, ms; 0 = never. They are configured. */
export interface OverdueAfter {
  /** In the state `requested`. */
  readonly requestedMs: number;
  /** In the state `started`: the vehicle is neither in the yard nor released. */
  readonly startedMs: number;
  /** An unsettled report. */
  readonly reportMs: number;
}

/** The states in which a tow may be overdue, in the order of OverdueAfter. */
export const OVERDUE_STATES = ['requested', 'started'] as const satisfies readonly TowState[];

/** One reason why a tow is overdue, and since when, ms since the epoch. */
interface OverdueMark {
  readonly what: (typeof OVERDUE_STATES)[number] | 'report';
  readonly sinceMs: number;
}

/** The outbox of a tow, and whether it is withheld. */
interface OwedReports {
  readonly entries: readonly { readonly state: EntryState; readonly createdAtMs: number }[];
  readonly withheld: WithheldState | null;
}

/** When the fact that led to the tow's state happened, ms since the epoch; null when no timestamp is readable. */
export function stateSinceMs(tow: Tow): number | null {
  const led = tow.facts.findLast(({ event }) => event === tow.state);
  return timestampMs(led?.occurredAt ?? tow.requestedAt) ?? timestampMs(tow.requestedAt);
}

/** How long a tow has been in its state. Never negative, although phones may be ahead of our clock. */
export function ageOf(tow: Tow, nowMs: number): { readonly sinceMs: number; readonly ageMs: number } {
  const sinceMs = stateSinceMs(tow) ?? nowMs;
  return { sinceMs, ageMs: Math.max(0, nowMs - sinceMs) };
}

/**
 * When the oldest unsettled report was recorded, ms since the epoch; null when all are settled, and while the tow is
 * withheld: its reports are not meant to be sent yet.
 */
export function unsettledSinceMs({ entries, withheld }: OwedReports): number | null {
  return withheld === 'held' ? null : (headOf(entries)?.createdAtMs ?? null);
}

/** Every reason why a tow is overdue, or none. */
export function overdueOf(
  record: { readonly tow: Tow } & OwedReports,
  after: OverdueAfter,
  nowMs: number,
): OverdueMark[] {
  const { tow } = record;
  const marks: (OverdueMark & { readonly afterMs: number })[] = [];
  const sinceMs = stateSinceMs(tow);
  if (sinceMs !== null && tow.state === 'requested') {
    marks.push({ what: 'requested', sinceMs, afterMs: after.requestedMs });
  }
  if (sinceMs !== null && tow.state === 'started') marks.push({ what: 'started', sinceMs, afterMs: after.startedMs });
  const owedMs = unsettledSinceMs(record);
  if (owedMs !== null) marks.push({ what: 'report', sinceMs: owedMs, afterMs: after.reportMs });
  return marks
    .filter((mark) => mark.afterMs > 0 && nowMs - mark.sinceMs > mark.afterMs)
    .map(({ what, sinceMs: since }) => ({ what, sinceMs: since }));
}
