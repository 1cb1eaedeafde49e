import type { Child } from 'hono/jsx';
import { CREW_STEPS } from '../../../domain/tow/dispatch';
import { TASK_TYPES } from '../../../domain/ops/tasks';
import { timestampMs } from '../../../domain/timestamp';
import { FACT_EVENTS } from '../../../domain/vocabulary';
import { valueUnder, formatted } from '../../messages';
import { Timestamp, Ref, UserText, Plate } from '../../parts/text';
import { oneOf, type Viewer } from '../../viewer';
import type { TowModel } from './model';

/** An event on the timeline of a tow. */
export interface TimelineEvent {
  readonly atMs: number;
  readonly type: string;
  readonly [name: string]: unknown;
}

type TimelineMessage = string | ((values: { readonly report: string }) => string);

/** The title of an entry of the timeline, also of a type that is not known. */
export function titleOf({ viewer, view }: TowModel, entry: TimelineEvent): string {
  const { timeline, terms } = viewer.messages;
  if (entry.type === 'fact.recorded') {
    const event = oneOf(FACT_EVENTS, text(entry, 'event') ?? '');
    return event === null ? timeline.unknown({ type: entry.type }) : timeline.facts[event];
  }
  const message = valueUnder<TimelineMessage>(timeline.entries, entry.type);
  if (message === null) return timeline.unknown({ type: entry.type });
  const reportId = text(entry, 'report_id');
  const kind = view.reports.find(({ id }) => id === reportId)?.kind;
  const report = kind === undefined ? (reportId ?? '') : terms.operations[kind];
  const how = text(entry, 'how');
  if (entry.type === 'report.accepted' && (how === 'late_answer' || how === 'proved_by_webhook')) {
    return timeline.accepted[how]({ report });
  }
  return formatted(message, { report });
}

/** The colour of the dot. The text carries the same meaning. */
export function toneOf({ type }: TimelineEvent): string {
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

/** Details of an entry: time, reason, place, links. */
export function Details({ model, entry }: { model: TowModel; entry: TimelineEvent }) {
  const { viewer } = model;
  const lines = [...occurrenceLine(viewer, entry), ...localLines(viewer, entry), ...linkLines(viewer, entry)];
  const isKnown =
    entry.type === 'fact.recorded' ||
    valueUnder<TimelineMessage>(viewer.messages.timeline.entries, entry.type) !== null;
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

/** The time of the fact, if it differs from the time of recording. */
function occurrenceLine(viewer: Viewer, entry: TimelineEvent): Child[] {
  const at = text(entry, 'occurred_at');
  if (at === null || Math.abs(Date.parse(at) - entry.atMs) < 60_000) return [];
  return [
    <>
      {viewer.messages.audit.what.occurred_at} <Timestamp viewer={viewer} at={at} />
    </>,
  ];
}

function localLines(viewer: Viewer, entry: TimelineEvent): Child[] {
  const { labels, photos, reason } = viewer.messages.timeline;
  const step = oneOf(CREW_STEPS, text(entry, 'step') ?? '');
  const ids = entry['photo_ids'];
  const named = [
    [labels.crew, text(entry, 'crew')],
    [labels.truck, text(entry, 'truck')],
    [labels.yard, text(entry, 'yard')],
    [labels.slot, text(entry, 'slot')],
    [labels.reference, text(entry, 'external_reference')],
    [labels.removed, text(entry, 'removed_characters')],
    [labels.task, taskIn(viewer, entry)],
    [reason, reasonIn(viewer, entry)],
  ] as const;
  return [
    ...(step === null ? [] : [viewer.messages.towDispatch.stepNames[step]]),
    ...named.flatMap(([label, value]) =>
      value === null
        ? []
        : [
            <>
              {label}: <UserText>{value}</UserText>
            </>,
          ],
    ),
    ...(Array.isArray(ids) ? [photos({ count: ids.length })] : []),
  ];
}

function taskIn(viewer: Viewer, entry: TimelineEvent): string | null {
  const name = text(entry, 'task_type');
  const type = oneOf(TASK_TYPES, name ?? undefined);
  return type === null ? name : viewer.messages.taskTypes.types[type].chip;
}

/** The reason of a person, or the one that towhook gives (`recordFact`). */
function reasonIn(viewer: Viewer, entry: TimelineEvent): string | null {
  const reason = text(entry, 'reason') ?? text(entry, 'override_reason');
  return reason === 'withdrawn by cancel' ? viewer.messages.timeline.withdrawn : reason;
}

function linkLines(viewer: Viewer, entry: TimelineEvent): Child[] {
  if (viewer.isInField) return [];
  const { labels } = viewer.messages.timeline;
  const links = [
    [labels.delivery, '/ops/deliveries/', text(entry, 'delivery_id')],
    [labels.violation, '/violations/', text(entry, 'violation_id')],
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

/** Shortens ids of towhook, which are long. */
function shortened(id: string): string {
  return id.length > SHORT_ID ? `${id.slice(0, SHORT_ID - 1)}…` : id;
}
const SHORT_ID = 14;

function text(entry: TimelineEvent, name: string): string | null {
  const value = entry[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The corrected fields with old and new values. */
function Corrected({ viewer, fields }: { viewer: Viewer; fields: unknown }) {
  const { towFacts, timeline } = viewer.messages;
  if (typeof fields !== 'object' || fields === null) return null;
  const labels = new Map<string, string>(Object.entries(towFacts.fields));
  return (
    <ul class="corrected muted">
      {Object.entries(fields).map(([name, change]: [string, unknown]) => (
        <li>
          {timeline.corrected.rich({
            field: labels.get(name) ?? name,
            to: <Value viewer={viewer} name={name} value={valueIn(change, 'new')} />,
            from: <Value viewer={viewer} name={name} value={valueIn(change, 'old')} />,
          })}
        </li>
      ))}
    </ul>
  );
}

function Value({ viewer, name, value }: { viewer: Viewer; name: string; value: string }) {
  if (name === 'status_update_time' && timestampMs(value) !== null) return <Timestamp viewer={viewer} at={value} />;
  return name === 'plate_number' ? <Plate plate={value} /> : <UserText>{value}</UserText>;
}

function valueIn(change: unknown, which: 'old' | 'new'): string {
  const entries = typeof change === 'object' && change !== null ? Object.entries(change) : [];
  const value: unknown = new Map<string, unknown>(entries).get(which);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '–';
}
