import type { TowView } from '../../contracts/operator';
import type { ReportKind, ReportState as State } from '../../domain/vocabulary';
import type { Viewer } from '../viewer';
import { Badge, type Tone } from './text';

/** What of a report tells how it stands with the service; its record and the API's view both do. */
export interface ReportStanding {
  readonly kind: ReportKind;
  readonly state: State;
  readonly attempts: number;
  readonly isInFlight: boolean;
  /** Null where it has no time of its own. */
  readonly nextAtMs: number | null;
  readonly deliveredAtMs: number | null;
}

type ReportView = TowView['reports'][number];

/** How a report stands with the service, in words: sent, accepted, failed, and when next. */
export function ReportState({
  viewer,
  report,
  withKind = false,
}: {
  viewer: Viewer;
  report: ReportView;
  withKind?: boolean;
}) {
  const standing = standingOfView(report);
  const kind = withKind ? `${viewer.words.terms.facts[report.kind]}: ` : '';
  const leftMs = (standing.nextAtMs ?? 0) - viewer.nowMs;
  const left = leftMs > 0 ? ` · ${viewer.formats.duration(leftMs)}` : '';
  return (
    <Badge tone={toneOf(standing)} title={titleOf(viewer, standing)}>
      {`${kind}${wordOf(viewer, standing)}${left}`}
    </Badge>
  );
}

/**
 * The same as one small badge with the kind of the report: a sign and a colour where all is well, words as well where
 * somebody may have to look. Whoever cannot see the sign is told in words.
 */
export function ReportBadge({ viewer, standing }: { viewer: Viewer; standing: ReportStanding }) {
  const said = saidOf(viewer, standing);
  return (
    <span class={`report-badge ${toneOf(standing)}`} title={titleOf(viewer, standing)}>
      <span aria-hidden="true">{signOf(standing)}</span> {viewer.words.terms.facts[standing.kind]}
      {said === null ? (
        <span class="visually-hidden">: {wordOf(viewer, standing)}</span>
      ) : (
        <span class="said">
          <span class="visually-hidden">:</span> {said}
        </span>
      )}
    </span>
  );
}

export function standingOfView(report: ReportView): ReportStanding {
  const { kind, state, attempts, in_flight: isInFlight, next_attempt_at: nextAt, delivered_at: deliveredAt } = report;
  return { kind, state, attempts, isInFlight, nextAtMs: momentOf(nextAt), deliveredAtMs: momentOf(deliveredAt) };
}

function momentOf(iso: string | null): number | null {
  return iso === null ? null : Date.parse(iso);
}

/** On hover: the words, and the moment that belongs to them. */
function titleOf(viewer: Viewer, standing: ReportStanding): string {
  const { words, formats } = viewer;
  const moment = (ms: number) => formats.moment(new Date(ms).toISOString());
  const word = `${words.terms.facts[standing.kind]}: ${wordOf(viewer, standing)}`;
  if (isLater(viewer, standing)) return `${word}, ${words.common.nextAt} ${moment(standing.nextAtMs)}`;
  return standing.deliveredAtMs === null ? word : `${word}, ${moment(standing.deliveredAtMs)}`;
}

/** What is said beside the sign: when it is tried next, or that it failed. */
function saidOf(viewer: Viewer, standing: ReportStanding): string | null {
  if (standing.state === 'refused' || standing.state === 'unknown') return wordOf(viewer, standing);
  if (!isLater(viewer, standing)) return null;
  const [time = ''] = viewer.formats.clockTime(new Date(standing.nextAtMs).toISOString()).split('.');
  return time;
}

function isLater(viewer: Viewer, standing: ReportStanding): standing is ReportStanding & { readonly nextAtMs: number } {
  return !standing.isInFlight && standing.nextAtMs !== null && standing.nextAtMs > viewer.nowMs;
}

function wordOf({ words }: Viewer, { state, isInFlight, attempts }: ReportStanding): string {
  if (state === 'pending' && isInFlight) return words.terms.reportStates.sending;
  if (state === 'pending' && attempts > 0) return words.common.tryingAgain;
  return words.terms.reportStates[state];
}

function signOf({ state, isInFlight, attempts }: ReportStanding): string {
  switch (state) {
    case 'accepted':
      return '✓';
    case 'sending':
      return '↑';
    case 'pending':
      if (isInFlight) return '↑';
      return attempts > 0 ? '↻' : '…';
    case 'refused':
      return '×';
    case 'unknown':
      return '?';
    case 'waived':
      return '–';
  }
}

function toneOf({ state, isInFlight, attempts }: ReportStanding): Tone {
  switch (state) {
    case 'accepted':
      return 'good';
    case 'sending':
      return 'busy';
    case 'pending':
      return attempts > 0 && !isInFlight ? 'wait' : 'busy';
    case 'refused':
    case 'unknown':
      return 'bad';
    case 'waived':
      return 'quiet';
  }
}
