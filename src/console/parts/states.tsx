import type { ReportView } from '../../contracts/operator';
import type { ViolationView } from '../../contracts/violation/violations';
import type { TowState } from '../../domain/vocabulary';
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
  const kind = withKind ? `${viewer.messages.terms.operations[report.kind]}: ` : '';
  const leftMs = report.next_attempt_at === null ? 0 : Date.parse(report.next_attempt_at) - viewer.nowMs;
  const left = leftMs > 0 ? ` · ${viewer.formats.duration(leftMs)}` : '';
  return (
    <Badge tone={reportTone(report)} title={titleOf(viewer, report)}>
      {`${kind}${reportWord(viewer, report)}${left}`}
    </Badge>
  );
}

/**
 * The state of a report as a small badge: its kind with a symbol and a colour, and text where a person may have to act.
 * Screen readers get the text always.
 */
export function ReportBadge({ viewer, report }: { viewer: Viewer; report: ReportView }) {
  const text = badgeText(viewer, report);
  return (
    <span class={`report-badge ${reportTone(report)}`} title={titleOf(viewer, report)}>
      <span aria-hidden="true">{signOf(report)}</span> {viewer.messages.terms.operations[report.kind]}
      {text === null ? (
        <span class="visually-hidden">: {reportWord(viewer, report)}</span>
      ) : (
        <span class="said">
          <span class="visually-hidden">:</span> {text}
        </span>
      )}
    </span>
  );
}

/** The tooltip: state and timestamp. */
function titleOf(viewer: Viewer, report: ReportView): string {
  const { messages, formats } = viewer;
  const text = `${messages.terms.operations[report.kind]}: ${reportWord(viewer, report)}`;
  if (isLater(viewer, report)) {
    return `${text}, ${messages.common.nextAt} ${formats.timestamp(report.next_attempt_at)}`;
  }
  return report.delivered_at === null ? text : `${text}, ${formats.timestamp(report.delivered_at)}`;
}

/** The text of the badge: the next attempt, or that it failed. */
function badgeText(viewer: Viewer, report: ReportView): string | null {
  if (report.state === 'refused' || report.state === 'unknown') return reportWord(viewer, report);
  if (!isLater(viewer, report)) return null;
  const [time = ''] = viewer.formats.clockTime(report.next_attempt_at).split('.');
  return time;
}

function isLater(viewer: Viewer, report: ReportView): report is ReportView & { readonly next_attempt_at: string } {
  const { in_flight: isInFlight, next_attempt_at: nextAt } = report;
  return !isInFlight && nextAt !== null && Date.parse(nextAt) > viewer.nowMs;
}

function reportWord({ messages }: Viewer, { state, in_flight: isInFlight, attempts }: ReportView): string {
  if (state === 'pending' && isInFlight) return messages.terms.reportStates.sending;
  if (state === 'pending' && attempts > 0) return messages.common.tryingAgain;
  return messages.terms.reportStates[state];
}

function signOf({ state, in_flight: isInFlight, attempts }: ReportView): string {
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

function reportTone({ state, in_flight: isInFlight, attempts }: ReportView): Tone {
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
