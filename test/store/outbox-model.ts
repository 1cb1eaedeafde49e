import type { ReportKind, ReportState } from '../../src/domain/vocabulary';

/**
 * The outbox of one tow once more, as plain as it can be said: what the rules of the outbox must do, without time.
 * Every wait is 0, so that only decisions are left; workers lose their lease at once or never.
 */

export interface ModelReport {
  readonly id: string;
  readonly kind: ReportKind;
  state: ReportState;
  /** The attempt under way, or that of a worker that was lost. */
  attempt: number | null;
  unanswered: number;
  /** Whether any attempt may have worked. */
  mayHaveWorked: boolean;
  /** When its first attempt that may have worked left, by the model's own clock. */
  sentAt: number | null;
  isHandedOver: boolean;
  /** Accepted by an answer that a person is asked about. */
  /** An accepted answer whose claim was lost, kept while another attempt is under way. */
  lateAnswer: 'accepted' | 'drift' | null;
}

/** An attempt that was granted. */
export interface ModelAttempt {
  readonly number: number;
  readonly report: ModelReport;
  /** An accepting result of it was stored: once more it changes nothing, though a person may have sent it again. */
  wasAccepted: boolean;
}

export interface Model {
  readonly reports: ModelReport[];
  lease: { readonly attempt: number; readonly isLost: boolean } | null;
  /** When the last invoice webhook came, by the model's own clock. */
  provedAt: number | null;
  clock: number;
}

export const newModel = (): Model => ({ reports: [], lease: null, provedAt: null, clock: 0 });

const isOnce = (report: ModelReport) => report.kind === 'invoice';
const isSettled = ({ state }: ModelReport) => state === 'accepted' || state === 'waived';

export function owe(model: Model, kind: ReportKind): void {
  const id = `${kind}-${model.reports.length + 1}`;
  const fresh = { state: 'pending', attempt: null, unanswered: 0, mayHaveWorked: false } as const;
  model.reports.push({ id, kind, ...fresh, sentAt: null, isHandedOver: false, lateAnswer: null });
}

/** The first report that is not settled. */
export function headOf(model: Model): ModelReport | null {
  return model.reports.find((report) => !isSettled(report)) ?? null;
}

export type ModelClaim =
  | { readonly kind: 'busy' | 'idle' | 'needs_action' | 'escalated' }
  | { readonly kind: 'send'; readonly attempt: ModelAttempt };

/** A worker asks for the head; one that is lost holds the tow for no time at all. */
export function claim(model: Model, isLost: boolean): ModelClaim {
  model.clock += 1;
  if (model.lease && !model.lease.isLost) return { kind: 'busy' };
  bury(headOf(model));
  for (let head = headOf(model); head && isProved(model, head); head = headOf(model)) settle(head, 'accepted');
  const head = headOf(model);
  if (!head) return { kind: 'idle' };
  if (head.state === 'refused' || head.isHandedOver) return { kind: 'needs_action' };
  if (head.state === 'unknown' && head.unanswered >= 2) return { kind: 'escalated' };
  head.attempt = model.clock;
  if (isOnce(head)) {
    head.state = 'sending';
    head.sentAt ??= model.clock;
  }
  model.lease = { attempt: model.clock, isLost };
  return { kind: 'send', attempt: { number: model.clock, report: head, wasAccepted: false } };
}

function bury(head: ModelReport | null): void {
  if (!head || head.attempt === null) return;
  head.attempt = null;
  if (head.lateAnswer !== null) {
    settle(head, 'accepted');
    return;
  }
  head.unanswered += 1;
  head.mayHaveWorked = true;
  if (isOnce(head)) head.state = 'unknown';
}

function isProved(model: Model, report: ModelReport): boolean {
  if (!isOnce(report) || report.sentAt === null || model.provedAt === null) return false;
  return (report.state !== 'refused' || report.mayHaveWorked) && model.provedAt >= report.sentAt;
}

function settle(report: ModelReport, state: 'accepted' | 'waived'): void {
  Object.assign(report, { state, attempt: null, isHandedOver: false, lateAnswer: null });
}

/** What came of an attempt: accepted, accepted with a broken answer, refused, surely without effect, failed, or without an answer. */
export const OUTCOMES = ['accepted', 'drift', 'refused', 'throttled', 'failed', 'unanswered'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Stores the outcome of an attempt and returns whether the attempt still counted. */
export function settleAttempt(
  model: Model,
  attempt: ModelAttempt,
  outcome: Outcome,
): 'done' | 'late' | 'late_accepted' {
  const { number, report, wasAccepted: isRepeated } = attempt;
  if (outcome === 'accepted' || outcome === 'drift') attempt.wasAccepted = true;
  if (report.attempt !== number || model.lease?.attempt !== number) {
    if ((outcome !== 'accepted' && outcome !== 'drift') || isSettled(report) || isRepeated) return 'late';
    if (report.attempt !== null) {
      report.lateAnswer = outcome;
      return 'late';
    }
    settle(report, 'accepted');
    return 'late_accepted';
  }
  model.lease = null;
  report.attempt = null;
  if (outcome !== 'accepted' && outcome !== 'drift' && report.lateAnswer !== null) {
    settle(report, 'accepted');
    return 'done';
  }
  switch (outcome) {
    case 'accepted':
    case 'drift':
      settle(report, 'accepted');
      return 'done';
    case 'refused':
      forgetHarmless(report);
      report.state = 'refused';
      return 'done';
    case 'throttled':
      forgetHarmless(report);
      report.state = stateBetweenAttempts(report);
      return 'done';
    case 'failed':
      report.mayHaveWorked = true;
      // A create that failed after one without an answer may be the second that worked.
      if (isOnce(report) && report.unanswered > 0) report.unanswered += 1;
      report.state = stateBetweenAttempts(report);
      return 'done';
    case 'unanswered':
      report.mayHaveWorked = true;
      report.unanswered += 1;
      report.state = stateBetweenAttempts(report);
      return 'done';
  }
}

/** What surely did nothing leaves no trace of having been sent. */
function forgetHarmless(report: ModelReport): void {
  if (!report.mayHaveWorked) report.sentAt = null;
}

function stateBetweenAttempts(report: ModelReport): 'unknown' | 'pending' {
  return isOnce(report) && report.unanswered > 0 ? 'unknown' : 'pending';
}

/** A person decides about a report; false when it is settled or on its way. */
export function decide(model: Model, report: ModelReport, action: 'retry' | 'accept' | 'waive'): boolean {
  if (isSettled(report) || report.attempt !== null) return false;
  switch (action) {
    case 'accept':
      settle(report, 'accepted');
      return true;
    case 'waive':
      settle(report, 'waived');
      if (report.kind === 'invoice') {
        model.reports
          .filter(({ kind, state }) => kind === 'payment' && state === 'pending')
          .forEach((payment) => settle(payment, 'waived'));
      }
      return true;
    case 'retry':
      report.unanswered = Math.min(1, report.unanswered);
      report.isHandedOver = false;
      report.state = stateBetweenAttempts(report);
      return true;
  }
}
