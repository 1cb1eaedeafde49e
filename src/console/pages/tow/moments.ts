import type { Attempt, Report, TimelineEntry, TowRecord } from '../../../contracts/records';
import { attemptKey, attemptMs, runsOf, type Run } from '../../parts/attempts';

/** Something that happened to a tow: an entry of its timeline, or tries to send a report, equal ones in a row folded. */
export type Happening =
  | { readonly kind: 'entry'; readonly atMs: number; readonly entry: TimelineEntry }
  | {
      readonly kind: 'attempts';
      /** Of the last of them. */
      readonly atMs: number;
      readonly report: Report;
      readonly run: Run<Attempt>;
      /** What the last of them led to, where the timeline says so; null where nothing followed but another try. */
      readonly entry: TimelineEntry | null;
      /** Which tries these were, counted from 1. */
      readonly from: number;
      readonly to: number;
    };

/**
 * Everything that happened to a tow, newest first: what is read most is what just happened, and it stands where it is
 * seen without a step, on a page that grows while somebody looks at it.
 */
export function happeningsOf({ timeline, reports }: TowRecord): Happening[] {
  const taken = new Set<TimelineEntry>();
  const attempts = reports.flatMap((report) => attemptsOf(report, timeline, taken));
  const entries = timeline
    .filter((entry) => !taken.has(entry))
    .map((entry): Happening => ({ kind: 'entry', atMs: entry.atMs, entry }));
  return [...attempts, ...entries]
    .map((happening, order) => ({ happening, order }))
    .toSorted((a, b) => b.happening.atMs - a.happening.atMs || b.order - a.order)
    .map(({ happening }) => happening);
}

function attemptsOf(report: Report, timeline: readonly TimelineEntry[], taken: Set<TimelineEntry>): Happening[] {
  const { log, attempts } = report;
  // Between the first and the last that are kept some may be missing: the later ones are counted from the end.
  const missing = Math.max(0, attempts - log.length);
  const gapAt = missing === 0 ? log.length : FIRST_KEPT;
  const numberOf = (at: number) => (at < gapAt ? at + 1 : at + 1 + missing);
  const numbered = log.map((attempt, at) => ({ attempt, number: numberOf(at) }));
  return runsOf(numbered, ({ attempt, number }) => `${attemptKey(attempt)}${number > gapAt}`).map(
    ({ first, last, count, at }) => {
      const entry = resultOf(last.attempt, report, timeline, taken);
      if (entry) taken.add(entry);
      return {
        kind: 'attempts',
        atMs: entry?.atMs ?? attemptMs(last.attempt) ?? report.createdAtMs,
        report,
        run: { first: first.attempt, last: last.attempt, count, at },
        entry,
        from: first.number,
        to: last.number,
      };
    },
  );
}

/** The entry that one try of a report led to: written with its answer, and so told in one breath with it. */
function resultOf(
  attempt: Attempt,
  { id }: Report,
  timeline: readonly TimelineEntry[],
  taken: ReadonlySet<TimelineEntry>,
): TimelineEntry | null {
  const startedMs = attemptMs(attempt);
  if (startedMs === null) return null;
  const endedMs = startedMs + (attempt.duration_ms ?? 0);
  const found = timeline.find(
    (entry) =>
      entry['report_id'] === id &&
      entry.type === `report.${attempt.outcome}` &&
      Math.abs(entry.atMs - endedMs) < CLOCKS_APART_MS &&
      !taken.has(entry),
  );
  return found ?? null;
}

/** The worker's clock and that of Redis may differ, and the answer is stored a moment after it came. */
const CLOCKS_APART_MS = 5000;

/** So many are kept from the beginning (domain/entry.ts). */
const FIRST_KEPT = 5;
