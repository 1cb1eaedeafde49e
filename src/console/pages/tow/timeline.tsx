import type { ReportView, TowView } from '../../../contracts/operator';
import { riyadhDate } from '../../../domain/timestamp';
import {
  AttemptAnswer,
  AttemptBadge,
  AttemptDuration,
  attemptKey,
  attemptMs,
  groupRepeated,
  type Attempt,
  type Repeated,
} from '../../parts/attempts';
import { UserText } from '../../parts/text';
import type { Viewer } from '../../viewer';
import type { TowModel } from './model';
import { Details, titleOf, toneOf, type TimelineEvent } from './timeline-entry';

/** All events of the tow, by days in Riyadh. */
export function Timeline({ model }: { model: TowModel }) {
  const { viewer } = model;
  const days = byDay(timelineItems(model.view));
  return (
    <section class="card" id="timeline" aria-labelledby="timeline-title">
      <div class="head">
        <h2 id="timeline-title">{viewer.messages.tow.sections.timeline}</h2>
        <p class="muted">{viewer.messages.timeline.newestFirst}</p>
      </div>
      {days.map(({ day, items }) => (
        <>
          <h3 class="timeline-day">{viewer.formats.date(`${day}T12:00:00+03:00`)}</h3>
          <ol class="timeline">
            {items.map((item) => (
              <Row model={model} item={item} />
            ))}
          </ol>
        </>
      ))}
    </section>
  );
}

function byDay(items: readonly TimelineItem[]) {
  const days: { readonly day: string; readonly items: TimelineItem[] }[] = [];
  for (const item of items) {
    const day = riyadhDate(item.atMs);
    const last = days.at(-1);
    if (last?.day === day) last.items.push(item);
    else days.push({ day, items: [item] });
  }
  return days;
}

function Row({ model, item }: { model: TowModel; item: TimelineItem }) {
  const { viewer } = model;
  return item.kind === 'entry' ? (
    <li class={`moment ${toneOf(item.entry)}`}>
      <Time viewer={viewer} atMs={item.atMs} />
      <div>
        <p>
          {titleOf(model, item.entry)}
          <Who viewer={viewer} by={item.entry['by']} />
        </p>
        <Details model={model} entry={item.entry} />
      </div>
    </li>
  ) : (
    <li class={`moment ${item.entry === null ? 'try' : toneOf(item.entry)}`}>
      <Time viewer={viewer} atMs={item.atMs} />
      <Tries model={model} item={item} />
    </li>
  );
}

function Tries({ model, item }: { model: TowModel; item: Extract<TimelineItem, { kind: 'attempts' }> }) {
  const { viewer } = model;
  const { timeline, terms } = viewer.messages;
  const { report, run, entry, from, to } = item;
  const name = terms.operations[report.kind];
  const tries =
    from === to ? timeline.attempt({ report: name, number: to }) : timeline.attempts({ report: name, from, to });
  return (
    <div>
      <p>{entry === null ? tries : titleOf(model, entry)}</p>
      <p class="muted">
        {entry === null ? <AttemptBadge viewer={viewer} attempt={run.last} /> : <>{tries} ·</>}{' '}
        <AttemptAnswer viewer={viewer} attempt={run.last} />
        {run.count === 1 && <AttemptDuration viewer={viewer} attempt={run.last} />}
      </p>
    </div>
  );
}

/** With seconds, to tell events of one minute apart. */
function Time({ viewer, atMs }: { viewer: Viewer; atMs: number }) {
  const at = new Date(atMs).toISOString();
  const { formats } = viewer;
  return (
    <time datetime={at} title={`${formats.timestamp(at)} · ${formats.hover(at)}`} dir="ltr">
      {formats.clockTime(at).replace(/\.\d+$/, '')}
    </time>
  );
}

function Who({ viewer, by }: { viewer: Viewer; by: unknown }) {
  if (typeof by !== 'string' || by === '') return null;
  return <span class="muted"> · {viewer.messages.common.by.rich({ name: <UserText>{by}</UserText> })}</span>;
}

/** A timeline entry, or a group of equal attempts. */
type TimelineItem =
  | { readonly kind: 'entry'; readonly atMs: number; readonly entry: TimelineEvent }
  | {
      readonly kind: 'attempts';
      /** The time of the last attempt. */
      readonly atMs: number;
      readonly report: ReportView;
      readonly run: Repeated<Attempt>;
      /** The timeline entry that the last attempt led to; null if only another attempt followed. */
      readonly entry: TimelineEvent | null;
      /** The numbers of the attempts, counted from 1. */
      readonly from: number;
      readonly to: number;
    };

/** All events of a tow, newest first, so that the latest is visible without scrolling. */
export function timelineItems({ timeline: shown, reports }: Pick<TowView, 'timeline' | 'reports'>): TimelineItem[] {
  const timeline = shown.map(({ at, ...entry }) => ({ ...entry, atMs: Date.parse(at) }));
  const taken = new Set<TimelineEvent>();
  const attempts = reports.flatMap((report) => attemptsOf(report, timeline, taken));
  const entries = timeline
    .filter((entry) => !taken.has(entry))
    .map((entry): TimelineItem => ({ kind: 'entry', atMs: entry.atMs, entry }));
  return [...attempts, ...entries]
    .map((item, order) => ({ item, order }))
    .toSorted((a, b) => b.item.atMs - a.item.atMs || b.order - a.order)
    .map(({ item }) => item);
}

function attemptsOf(report: ReportView, timeline: readonly TimelineEvent[], taken: Set<TimelineEvent>): TimelineItem[] {
  const { log, attempts } = report;
  // Only the first and the last attempts are kept, so later numbers count from the end.
  const missing = Math.max(0, attempts - log.length);
  const gapAt = missing === 0 ? log.length : FIRST_KEPT;
  const numberOf = (at: number) => (at < gapAt ? at + 1 : at + 1 + missing);
  const numbered = log.map((attempt, at) => ({ attempt, number: numberOf(at) }));
  return groupRepeated(numbered, ({ attempt, number }) => `${attemptKey(attempt)}${number > gapAt}`).map(
    ({ first, last, count, at }) => {
      const entry = resultOf(last.attempt, report, timeline, taken);
      if (entry) taken.add(entry);
      return {
        kind: 'attempts',
        atMs: entry?.atMs ?? attemptMs(last.attempt) ?? Date.parse(report.created_at),
        report,
        run: { first: first.attempt, last: last.attempt, count, at },
        entry,
        from: first.number,
        to: last.number,
      };
    },
  );
}

/** The timeline entry written with the result of an attempt. */
function resultOf(
  attempt: Attempt,
  { id }: ReportView,
  timeline: readonly TimelineEvent[],
  taken: ReadonlySet<TimelineEvent>,
): TimelineEvent | null {
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

/** Tolerance between the clocks of the worker and Redis. */
const CLOCKS_APART_MS = 5000;

/** The number of first attempts that are kept (domain/outbox/entry.ts). */
const FIRST_KEPT = 5;
