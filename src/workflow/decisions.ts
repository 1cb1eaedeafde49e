import type { Report, TowRecord } from '../contracts/records';
import { alsoWaived, auditOf, type AuditAction, type AuditDetails } from '../domain/audit';
import { conflict, unknown, type Decision } from '../domain/refusal';
import { isSettled } from '../domain/outbox';
import { correct, type Correction } from '../domain/correct';
import { isAnswerQuestioned } from '../domain/questioned-answer';
import { searchTerms } from '../domain/search';
import type { Remember, ReportDecision } from './ports';
import { effectOf, noSuchTow, type Actor, type Effect, type ProgressTools } from './progress';
import { untilFresh } from './retry-stale';

/** What a person may decide about a report that is not settled; one whose answer is questioned may be sent again, too. */
export type DecisionCommand =
  | { readonly action: 'retry' }
  | { readonly action: 'correct'; readonly fields: Correction }
  | { readonly action: 'waive'; readonly reason: string }
  | { readonly action: 'accept'; readonly reason: string };

export interface DecisionRequest {
  readonly ref: string;
  readonly reportId: string;
  readonly command: DecisionCommand;
  readonly actor: Actor;
  readonly remember?: Remember | undefined;
}

/** Carries out a person's decision on one report, or refuses and changes nothing. */
export async function decideReport(tools: ProgressTools, request: DecisionRequest): Promise<Effect> {
  const effect = await untilFresh<Effect>(async () => {
    const record = await tools.tows.read(request.ref);
    if (!record) return { kind: 'refused', refusal: noSuchTow };
    const report = record.reports.find(({ id }) => id === request.reportId);
    if (!report) return { kind: 'refused', refusal: unknown('report_not_found', 'There is no such report.').refusal };
    const decision = decisionOf(record, report, request, tools);
    if (!decision.ok) return { kind: 'refused', refusal: decision.refusal };
    return effectOf(await tools.tows.decide(record, decision.decision, request.remember));
  });
  if (effect.kind === 'done') tools.wake.tow(request.ref);
  return effect;
}

function decisionOf(
  record: TowRecord,
  report: Report,
  request: DecisionRequest,
  tools: ProgressTools,
): Decision<{ decision: ReportDecision }> {
  if (isSettled(report.state)) {
    const refusal = notSentAgain(record, report, request.command);
    if (refusal) return refusal;
  }
  if (report.inFlight || report.state === 'sending') {
    return conflict('report_in_flight', 'The report is being sent right now; decide when its answer is here.');
  }
  const { command } = request;
  const reportId = report.id;
  const audit = (why: string | null, what: AuditDetails = {}) =>
    auditOf(request.actor, AUDIT_ACTIONS_OF[command.action], {
      on: { towing_reference_id: request.ref, report_id: reportId },
      why,
      what,
    });
  switch (command.action) {
    case 'retry':
      return { ok: true, decision: { reportId, audit: audit(null), action: 'retry' } };
    case 'accept': {
      const { reason } = command;
      return { ok: true, decision: { reportId, audit: audit(reason), action: 'accept', reason } };
    }
    case 'waive': {
      const { reason } = command;
      const alsoWaive = paymentsOf(record, report);
      const entry = audit(reason, alsoWaived(alsoWaive.map(({ id }) => id)));
      return { ok: true, decision: { reportId, audit: entry, action: 'waive', reason, alsoWaive } };
    }
    case 'correct': {
      if (report.state === 'unknown') {
        return conflict('correct_not_allowed', 'The outcome is unknown: accept, retry or waive it.');
      }
      const corrected = correct(record.tow, report, {
        fields: command.fields,
        reports: record.reports,
        rules: tools.rules,
        nowMs: tools.clock.nowMs(),
      });
      if (!corrected.ok) return corrected;
      const { body, tow, fields } = corrected;
      const change = { body, tow, fields, searchTerms: searchTerms(tow) };
      const entry = audit(null, { fields: Object.keys(fields) });
      return { ok: true, decision: { reportId, audit: entry, action: 'correct', ...change } };
    }
  }
}

/**
 * Why a settled report takes no decision; null when it may be sent again. It then goes to the head of the outbox, which no
 * report on its way may leave.
 */
function notSentAgain({ reports, tasks }: TowRecord, { id, state }: Report, { action }: DecisionCommand) {
  if (action !== 'retry' || state !== 'accepted' || !isAnswerQuestioned(id, tasks)) {
    return conflict('report_settled', `The report was already ${state}.`);
  }
  return reports.some(({ inFlight }) => inFlight)
    ? conflict('report_in_flight', 'Another report of the tow is being sent right now; decide when its answer is here.')
    : null;
}

const AUDIT_ACTIONS_OF = {
  retry: 'report.retried',
  correct: 'report.corrected',
  waive: 'report.waived',
  accept: 'report.accepted_by_hand',
} as const satisfies Record<DecisionCommand['action'], AuditAction>;

/** Without its invoice a payment has nothing to pay. */
function paymentsOf(record: TowRecord, waived: Report): Report[] {
  if (waived.kind !== 'invoice') return [];
  return record.reports.filter(({ kind, state }) => kind === 'payment' && state === 'pending');
}
