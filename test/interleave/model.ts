import type { ReportKind, ReportState, TowState } from '../../src/domain/vocabulary';
import type { Answer, Granted, CoreOperation } from './operations';

/**
 * One tow and its outbox as the product rules describe them, as plain data. It knows no time: leases end at the
 * rounds that a story names, and a wait ends after each round.
 */
export interface HotTowModel {
  state: TowState;
  readonly reports: TowModelReport[];
  lease: { readonly attemptId: string; isOver: boolean } | null;
  /** Whether an invoice webhook came since the first create was sent. */
  isProved: boolean;
  readonly attached: string[];
  /** The revision and the report of every attempt. */
  readonly attempts: Record<string, { readonly reportId: string; readonly revision: number }>;
}

export interface TowModelReport {
  readonly id: string;
  readonly kind: ReportKind;
  state: ReportState;
  revision: number;
  sent: number;
  attemptId: string | null;
  /** Failures in a row: what lost its worker more than once waits. */
  failures: number;
  waits: boolean;
  /** Attempts without an answer that no person has taken responsibility for. */
  unanswered: number;
  mayHaveWorked: boolean;
  /** Whether a create is sent that a webhook can prove. */
  isProvable: boolean;
  isWaitingForPerson: boolean;
  hasLateAnswer: boolean;
}

export function newModel(): HotTowModel {
  const model: HotTowModel = {
    state: 'started',
    reports: [],
    lease: null,
    isProved: false,
    attached: [],
    attempts: {},
  };
  owe(model, 'started');
  return model;
}

/** Does one operation; `observed` names the attempt that the product began, if it did. */
export function apply(model: HotTowModel, operation: CoreOperation, observed: Answer): Answer {
  switch (operation.do) {
    case 'say':
      return done(say(model, operation.event));
    case 'decide': {
      const report = model.reports.find(({ id }) => id === operation.reportId);
      return done(report !== undefined && decide(model, report, operation.action));
    }
    case 'receive':
      model.isProved = true;
      return done(true);
    case 'attach':
      if (!model.attached.includes(operation.id)) model.attached.push(operation.id);
      return done(true);
    case 'claim': {
      const next = claim(model, observed.next?.attemptId ?? '', operation.isLost);
      return { kind: next.kind, next };
    }
    case 'settle': {
      const kind = settleAttempt(model, operation.attemptId, operation.outcome);
      // Whether more is done in the same commit is up to the product; what is done must be right.
      const next = observed.next && claim(model, observed.next.attemptId ?? '', false);
      return { kind, next };
    }
  }
}

const done = (isDone: boolean): Answer => ({ kind: isDone ? 'done' : 'refused', next: null });
const isSettled = ({ state }: TowModelReport) => state === 'accepted' || state === 'waived';
const isOpen = ({ state }: HotTowModel) => state === 'started' || state === 'detained';

/** The first report that is not settled: the only one that may be sent. */
function headOf({ reports }: HotTowModel): TowModelReport | undefined {
  return reports.find((report) => !isSettled(report));
}

/** Whether the tow must be on the schedule. */
export function needsWorker(model: HotTowModel): boolean {
  const head = headOf(model);
  return head !== undefined && head.state !== 'refused' && !head.isWaitingForPerson;
}

function owe({ reports }: HotTowModel, kind: ReportKind): true {
  const counts = { revision: 1, sent: 0, failures: 0, unanswered: 0 };
  const flags = {
    waits: false,
    mayHaveWorked: false,
    isProvable: false,
    isWaitingForPerson: false,
    hasLateAnswer: false,
  };
  reports.push({ id: `${kind}-${reports.length + 1}`, kind, state: 'pending', attemptId: null, ...counts, ...flags });
  return true;
}

function say(model: HotTowModel, event: Extract<CoreOperation, { do: 'say' }>['event']): boolean {
  const { reports, attached } = model;
  const isInvoiced = attached.length > 0 || reports.some(({ kind, state }) => kind === 'invoice' && state !== 'waived');
  const isPaid = reports.some(({ kind, state }) => kind === 'payment' && state !== 'waived');
  switch (event) {
    case 'detained':
      if (model.state !== 'started') return false;
      model.state = 'detained';
      return owe(model, event);
    case 'invoice':
      return isOpen(model) && !reports.some(({ kind }) => kind === 'invoice') && owe(model, event);
    case 'payment':
      return isInvoiced && !isPaid && owe(model, event);
    case 'released':
      if (!isOpen(model) || (isInvoiced && !isPaid)) return false;
      model.state = 'released';
      return owe(model, event);
    case 'canceled':
      if (!isOpen(model) || attached.length > 0 || reports.some(mayBeInvoiced)) return false;
      model.state = 'canceled';
      for (const report of reports) {
        const isOfInvoice = report.kind === 'invoice' || report.kind === 'payment';
        if (isOfInvoice && report.state === 'pending' && !hasBeenTried(report)) settle(report, 'waived');
      }
      return owe(model, event);
  }
}

const hasBeenTried = ({ attemptId, mayHaveWorked }: TowModelReport) => attemptId !== null || mayHaveWorked;

function mayBeInvoiced(report: TowModelReport): boolean {
  if (report.kind !== 'invoice' || report.state === 'waived') return false;
  return ['sending', 'unknown', 'accepted'].includes(report.state) || hasBeenTried(report);
}

function settle(report: TowModelReport, state: 'accepted' | 'waived'): void {
  Object.assign(report, { state, attemptId: null, isWaitingForPerson: false, hasLateAnswer: false, waits: false });
}

/** Between two attempts: an invoice that may exist is unknown. */
function rest(report: TowModelReport): void {
  report.state = report.kind === 'invoice' && report.unanswered > 0 ? 'unknown' : 'pending';
}

function claim(model: HotTowModel, attemptId: string, isLost: boolean): Granted {
  const only = (kind: string) => ({ kind, reportId: null, attemptId: null });
  if (model.lease && !model.lease.isOver) return only('busy');
  model.lease = null;
  const lost = model.reports.find((report) => report.attemptId !== null);
  if (lost) loseAttempt(lost);
  for (let head = headOf(model); head?.isProvable && model.isProved; head = headOf(model)) {
    if (head.state === 'refused' && !head.mayHaveWorked) break;
    settle(head, 'accepted');
  }
  const head = headOf(model);
  if (!head) return only('idle');
  if (head.state === 'refused' || head.isWaitingForPerson) return only('needs_action');
  if (head.waits) return only('wait');
  if (head.state === 'unknown' && head.unanswered >= 2) {
    head.isWaitingForPerson = true;
    return only('escalated');
  }
  if (head.kind === 'invoice') {
    head.state = 'sending';
    // A webhook from before the first create proves nothing.
    if (!head.isProvable) model.isProved = false;
    head.isProvable = true;
  }
  head.sent += 1;
  head.attemptId = attemptId;
  model.lease = { attemptId, isOver: isLost };
  model.attempts[attemptId] = { reportId: head.id, revision: head.revision };
  return { kind: 'send', reportId: head.id, attemptId };
}

function loseAttempt(report: TowModelReport): void {
  report.attemptId = null;
  if (report.hasLateAnswer) return settle(report, 'accepted');
  report.unanswered += 1;
  report.mayHaveWorked = true;
  report.failures += 1;
  if (report.kind === 'invoice') report.state = 'unknown';
  else report.waits = report.failures > 1;
}

function settleAttempt(
  model: HotTowModel,
  attemptId: string,
  outcome: Extract<CoreOperation, { do: 'settle' }>['outcome'],
): string {
  const attempt = model.attempts[attemptId];
  const report = model.reports.find(({ id }) => id === attempt?.reportId);
  if (!attempt || !report) return 'gone';
  // An answer to another body settles a create only: the service has one, and must not get another.
  if (report.revision !== attempt.revision && report.kind !== 'invoice') return 'late';
  if (report.attemptId !== attemptId || model.lease?.attemptId !== attemptId) {
    if (outcome !== 'accepted' || isSettled(report)) return 'late';
    if (report.attemptId === null) {
      settle(report, 'accepted');
      return 'late_accepted';
    }
    report.hasLateAnswer = true;
    return 'late';
  }
  model.lease = null;
  report.attemptId = null;
  if (outcome === 'accepted' || report.hasLateAnswer) {
    settle(report, 'accepted');
    return 'done';
  }
  if (outcome === 'unknown') report.mayHaveWorked = true;
  else if (!report.mayHaveWorked) report.isProvable = false;
  if (outcome === 'refused') {
    report.state = 'refused';
    return 'done';
  }
  report.failures += 1;
  if (outcome === 'unknown') report.unanswered += 1;
  rest(report);
  return 'done';
}

function decide(
  model: HotTowModel,
  report: TowModelReport,
  action: Extract<CoreOperation, { do: 'decide' }>['action'],
): boolean {
  if (isSettled(report) || report.attemptId !== null) return false;
  switch (action) {
    case 'accept':
      settle(report, 'accepted');
      return true;
    case 'waive':
      settle(report, 'waived');
      if (report.kind !== 'invoice') return true;
      for (const other of model.reports) {
        if (other.kind === 'payment' && other.state === 'pending') settle(other, 'waived');
      }
      return true;
    case 'correct':
      if (report.state === 'unknown' || !['started', 'invoice', 'canceled'].includes(report.kind)) return false;
      report.revision += 1;
      return sendAgain(report);
    case 'retry':
      return sendAgain(report);
  }
}

/** As if for the first time, but one unanswered attempt stays open. */
function sendAgain(report: TowModelReport): true {
  report.unanswered = Math.min(1, report.unanswered);
  Object.assign(report, { failures: 0, waits: false, isWaitingForPerson: false });
  rest(report);
  return true;
}
