import { momentMs } from './moment';
import { isSettled } from './outbox';
import type { Tow } from './tow';
import type { ReportState } from './vocabulary';

/** How long a tow may stand still before people are shown that it does. Nothing follows from it by itself. */

/** After how long what is overdue, ms; 0 = never. The values come from the configuration. */
export interface OverdueAfter {
  /** In the state `requested`: nobody has started. */
  readonly requestedMs: number;
  /** In the state `started`: the vehicle is neither in the yard nor released. */
  readonly startedMs: number;
  /** A report that is owed to the service and not settled. */
  readonly reportMs: number;
}

/** One reason why a tow is overdue, and since when that stands still, ms since the epoch. */
export interface OverdueMark {
  readonly what: 'requested' | 'started' | 'report';
  readonly sinceMs: number;
}

/** What of a report tells since when it is owed. */
export interface OwedReport {
  readonly state: ReportState;
  readonly createdAtMs: number;
}

/** Since when a tow is in its state: when what led there happened. Null where its record names no moment at all. */
export function stateSinceMs(tow: Tow): number | null {
  const led = tow.facts.findLast(({ event }) => event === tow.state);
  return momentMs(led?.occurredAt ?? tow.requestedAt) ?? momentMs(tow.requestedAt);
}

/** How long a tow has been in its state; never negative, though a phone may run ahead of our clock. */
export function ageOf(tow: Tow, nowMs: number): { readonly sinceMs: number; readonly ageMs: number } {
  const sinceMs = stateSinceMs(tow) ?? nowMs;
  return { sinceMs, ageMs: Math.max(0, nowMs - sinceMs) };
}

/** Since when the oldest report that is not settled is owed, ms since the epoch; null when nothing is owed. */
export function owedSinceMs(reports: readonly OwedReport[]): number | null {
  return reports.find(({ state }) => !isSettled(state))?.createdAtMs ?? null;
}

/** Every reason why a tow is overdue; none when it is not. `reports` in the order of the outbox. */
export function overdueOf(
  { tow, reports }: { readonly tow: Tow; readonly reports: readonly OwedReport[] },
  after: OverdueAfter,
  nowMs: number,
): OverdueMark[] {
  const marks: (OverdueMark & { readonly afterMs: number })[] = [];
  const sinceMs = stateSinceMs(tow);
  if (sinceMs !== null && tow.state === 'requested') {
    marks.push({ what: 'requested', sinceMs, afterMs: after.requestedMs });
  }
  if (sinceMs !== null && tow.state === 'started') marks.push({ what: 'started', sinceMs, afterMs: after.startedMs });
  const owedMs = owedSinceMs(reports);
  if (owedMs !== null) marks.push({ what: 'report', sinceMs: owedMs, afterMs: after.reportMs });
  return marks
    .filter((mark) => mark.afterMs > 0 && nowMs - mark.sinceMs > mark.afterMs)
    .map(({ what, sinceMs: since }) => ({ what, sinceMs: since }));
}
