import type { ReportView } from '../../contracts/operator';
import type { ViolationView } from '../../contracts/violations';
import type { ReportKind, ReportState as ReportStateName, TowState } from '../../domain/vocabulary';
import type { Viewer } from '../viewer';
import { Badge, type Tone } from './text';

const TOW_TONES: Readonly<Record<TowState, Tone>> = {
  requested: 'wait',
  started: 'busy',
  detained: 'busy',
  released: 'good',
  canceled: 'quiet',
};

export function TowStateBadge({ viewer, state }: { viewer: Viewer; state: TowState }) {
  return <Badge tone={TOW_TONES[state]}>{viewer.messages.terms.towStates[state]}</Badge>;
}

/** What the state of a report depends on, from its record or the API view. */
interface ReportProgress {
  readonly kind: ReportKind;
  readonly state: ReportStateName;
  readonly attempts: number;
  readonly isInFlight: boolean;
  /** Null if it is not scheduled. */
  readonly nextAtMs: number | null;
  readonly deliveredAtMs: number | null;
}

/** The state of a report in words, with the time of the next attempt. */
export function ReportState({
  viewer,
  report,
  withKind = false,
}: {
  viewer: Viewer;
  report: ReportView;
  withKind?: boolean;
}) {
  const status = statusOfView(report);
  const kind = withKind ? `${viewer.messages.terms.facts[report.kind]}: ` : '';
  const leftMs = (status.nextAtMs ?? 0) - viewer.nowMs;
  const left = leftMs > 0 ? ` · ${viewer.formats.duration(leftMs)}` : '';
  return (
    <Badge tone={reportTone(status)} title={titleOf(viewer, status)}>
      {`${kind}${reportWord(viewer, status)}${left}`}
    </Badge>
  );
}

/**
 * The state of a report as a small badge: its kind with a symbol and a colour, and text where a person may have to act.
 * Screen readers get the text always.
 */
export function ReportBadge({ viewer, status }: { viewer: Viewer; status: ReportProgress }) {
  const text = badgeText(viewer, status);
  return (
    <span class={`report-badge ${reportTone(status)}`} title={titleOf(viewer, status)}>
      <span aria-hidden="true">{signOf(status)}</span> {viewer.messages.terms.facts[status.kind]}
      {text === null ? (
        <span class="visually-hidden">: {reportWord(viewer, status)}</span>
      ) : (
        <span class="said">
          <span class="visually-hidden">:</span> {text}
        </span>
      )}
    </span>
  );
}

function statusOfView(report: ReportView): ReportProgress {
  const { kind, state, attempts, in_flight: isInFlight, next_attempt_at: nextAt, delivered_at: deliveredAt } = report;
  return { kind, state, attempts, isInFlight, nextAtMs: msOf(nextAt), deliveredAtMs: msOf(deliveredAt) };
}

function msOf(iso: string | null): number | null {
  return iso === null ? null : Date.parse(iso);
}

/** The tooltip: state and timestamp. */
function titleOf(viewer: Viewer, status: ReportProgress): string {
  const { messages, formats } = viewer;
  const timestamp = (ms: number) => formats.timestamp(new Date(ms).toISOString());
  const text = `${messages.terms.facts[status.kind]}: ${reportWord(viewer, status)}`;
  if (isLater(viewer, status)) return `${text}, ${messages.common.nextAt} ${timestamp(status.nextAtMs)}`;
  return status.deliveredAtMs === null ? text : `${text}, ${timestamp(status.deliveredAtMs)}`;
}

/** The text of the badge: the next attempt, or that it failed. */
function badgeText(viewer: Viewer, status: ReportProgress): string | null {
  if (status.state === 'refused' || status.state === 'unknown') return reportWord(viewer, status);
  if (!isLater(viewer, status)) return null;
  const [time = ''] = viewer.formats.clockTime(new Date(status.nextAtMs).toISOString()).split('.');
  return time;
}

function isLater(viewer: Viewer, status: ReportProgress): status is ReportProgress & { readonly nextAtMs: number } {
  return !status.isInFlight && status.nextAtMs !== null && status.nextAtMs > viewer.nowMs;
}

function reportWord({ messages }: Viewer, { state, isInFlight, attempts }: ReportProgress): string {
  if (state === 'pending' && isInFlight) return messages.terms.reportStates.sending;
  if (state === 'pending' && attempts > 0) return messages.common.tryingAgain;
  return messages.terms.reportStates[state];
}

function signOf({ state, isInFlight, attempts }: ReportProgress): string {
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

function reportTone({ state, isInFlight, attempts }: ReportProgress): Tone {
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

/** What the state of a violation depends on. `known`: reported by other software, never sent by towhook. */
type ViolationStatus = Pick<ViolationView, 'accepted_how' | 'state' | 'attempts' | 'in_flight' | 'next_attempt_at'>;

/** The state of a violation in words. */
export function ViolationState({ viewer, status }: { viewer: Viewer; status: ViolationStatus }) {
  return <Badge tone={violationTone(status)}>{violationWord(viewer, status)}</Badge>;
}

function violationWord({ messages }: Viewer, status: ViolationStatus): string {
  const { state, attempts, in_flight: isInFlight } = status;
  if (state === 'accepted' && status.accepted_how === 'known') return messages.violations.known;
  if (state !== 'pending') return messages.terms.violationStates[state];
  if (isInFlight) return messages.terms.violationStates.sending;
  if (isGivenUp(status)) return messages.violations.givenUp;
  return attempts > 0 ? messages.common.tryingAgain : messages.terms.violationStates.pending;
}

/** Nothing happens before a person decides. */
function isGivenUp({ state, next_attempt_at: nextAt }: ViolationStatus): boolean {
  return state === 'pending' && nextAt === null;
}

function violationTone(status: ViolationStatus): Tone {
  const { state, attempts, in_flight: isInFlight } = status;
  switch (state) {
    case 'accepted':
      return 'good';
    case 'sending':
      return 'busy';
    case 'pending':
      if (isInFlight) return 'busy';
      if (isGivenUp(status)) return 'bad';
      return attempts > 0 ? 'wait' : 'busy';
    case 'held':
    case 'refused':
    case 'unknown':
      return 'bad';
    case 'waived':
      return 'quiet';
  }
}
