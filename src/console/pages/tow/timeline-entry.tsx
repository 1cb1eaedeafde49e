import type { Child } from 'hono/jsx';
import type { TimelineEntry } from '../../../contracts/records';
import { CREW_STEPS } from '../../../domain/dispatch';
import { TASK_TYPES } from '../../../domain/tasks';
import { FACT_EVENTS } from '../../../domain/vocabulary';
import { Moment, Ref, Written } from '../../parts/text';
import { oneOf, type Viewer } from '../../viewer';
import { TIMELINE_TYPES } from '../../words/timeline';
import { Corrected } from './corrected';
import type { TowModel } from './model';

/** An entry of the timeline in words; one of a type that is not known is still shown. */
export function titleOf({ viewer, record }: TowModel, entry: TimelineEntry): string {
  const { timeline, terms } = viewer.words;
  if (entry.type === 'fact.recorded') {
    const event = oneOf(FACT_EVENTS, text(entry, 'event') ?? '');
    return event === null ? timeline.unknown(entry.type) : timeline.facts[event];
  }
  const type = oneOf(TIMELINE_TYPES, entry.type);
  if (type === null) return timeline.unknown(entry.type);
  const reportId = text(entry, 'report_id');
  const kind = record.reports.find(({ id }) => id === reportId)?.kind;
  const report = kind === undefined ? (reportId ?? '') : terms.facts[kind];
  const how = text(entry, 'how');
  if (type === 'report.accepted' && (how === 'late_answer' || how === 'proved_by_webhook')) {
    return timeline.accepted[how](report);
  }
  return timeline.entries[type](report);
}

/** good, bad, people or service: for the colour of its dot, which says nothing that the words do not. */
export function toneOf({ type }: TimelineEntry): string {
  switch (type) {
    case 'report.accepted':
    case 'report.accepted_by_hand':
      return 'good';
    case 'report.refused':
    case 'report.unknown':
    case 'report.handed_over':
    case 'tow.hold_placed':
    case 'request.rival_kept':
      return 'bad';
    case 'fact.recorded':
      return 'fact';
    default:
      return 'plain';
  }
}

/** What else an entry says: when it happened, why, where, which. */
export function Details({ model, entry }: { model: TowModel; entry: TimelineEntry }) {
  const { viewer } = model;
  const lines = [...momentLine(viewer, entry), ...localLines(viewer, entry), ...linkLines(viewer, entry)];
  const isKnown = entry.type === 'fact.recorded' || oneOf(TIMELINE_TYPES, entry.type) !== null;
  if (!isKnown) return <pre class="entry-raw">{JSON.stringify({ ...entry, atMs: undefined }, null, 2)}</pre>;
  return (
    <>
      {lines.length > 0 && (
        <p class="muted">
          {lines.map((line, index) => (
            <>
              {index > 0 && ' · '}
              {line}
            </>
          ))}
        </p>
      )}
      {entry.type === 'report.corrected' && <Corrected viewer={viewer} fields={entry['fields']} />}
    </>
  );
}

/** Only where it happened at another time than it was told. */
function momentLine(viewer: Viewer, entry: TimelineEntry): Child[] {
  const at = text(entry, 'occurred_at');
  if (at === null || Math.abs(Date.parse(at) - entry.atMs) < 60_000) return [];
  return [
    <>
      {viewer.words.timeline.happened} <Moment viewer={viewer} at={at} />
    </>,
  ];
}

function localLines(viewer: Viewer, entry: TimelineEntry): Child[] {
  const { words, photos, reason } = viewer.words.timeline;
  const step = oneOf(CREW_STEPS, text(entry, 'step') ?? '');
  const ids = entry['photo_ids'];
  const named = [
    [words.crew, text(entry, 'crew')],
    [words.truck, text(entry, 'truck')],
    [words.yard, text(entry, 'yard')],
    [words.slot, text(entry, 'slot')],
    [words.reference, text(entry, 'external_reference')],
    [words.task, taskIn(viewer, entry)],
    [reason, reasonIn(viewer, entry)],
  ] as const;
  return [
    ...(step === null ? [] : [viewer.words.towDispatch.stepNames[step]]),
    ...named.flatMap(([label, value]) =>
      value === null
        ? []
        : [
            <>
              {label}: <Written>{value}</Written>
            </>,
          ],
    ),
    ...(Array.isArray(ids) ? [photos(ids.length)] : []),
  ];
}

function taskIn(viewer: Viewer, entry: TimelineEntry): string | null {
  const name = text(entry, 'task_type');
  const type = oneOf(TASK_TYPES, name ?? undefined);
  return type === null ? name : viewer.words.taskTypes.types[type].chip;
}

/** What a person gave, or the one reason that the house itself gives (`recordFact`). */
function reasonIn(viewer: Viewer, entry: TimelineEntry): string | null {
  const reason = text(entry, 'reason') ?? text(entry, 'override_reason');
  return reason === 'withdrawn by cancel' ? viewer.words.timeline.withdrawn : reason;
}

function linkLines(viewer: Viewer, entry: TimelineEntry): Child[] {
  const { words } = viewer.words.timeline;
  const links = [
    [words.delivery, '/ops/deliveries/', text(entry, 'delivery_id')],
    [words.violation, '/violations/', text(entry, 'violation_id')],
  ] as const;
  return links.flatMap(([label, path, id]) =>
    id === null
      ? []
      : [
          <a href={`${path}${encodeURIComponent(id)}`} title={id}>
            {label} <Ref>{shortened(id)}</Ref>
          </a>,
        ],
  );
}

/** Our own ids are long, and nobody reads them to their end. */
function shortened(id: string): string {
  return id.length > SHORT_ID ? `${id.slice(0, SHORT_ID - 1)}…` : id;
}
const SHORT_ID = 14;

function text(entry: TimelineEntry, name: string): string | null {
  const value = entry[name];
  return typeof value === 'string' && value !== '' ? value : null;
}
