import type { Report, TowRecord } from '../../../contracts/records';
import { CORRECTABLE_FIELDS, isSettled } from '../../../domain/outbox';
import { isAnswerQuestioned } from '../../../domain/questioned-answer';
import { questionOf } from '../../../workflow/bulk-call';
import { Field, PostForm } from '../../parts/form';
import { CorrectionFields } from './correction';
import { FormProblem } from './form-problem';
import { waitingOf, type TowModel } from './model';
import { Folded, Offer } from './offer';

/** What people may decide about a report, as the rules of `decideReport` allow it now. */
export const DECISIONS = ['correct', 'retry', 'waive', 'accept'] as const;
export type Decision = (typeof DECISIONS)[number];

/**
 * The decisions that would not be refused now, the likeliest first. One that waits behind another is not sent again: it
 * has not had its turn.
 */
export function decisionsOn(record: TowRecord, report: Report, isHead: boolean): readonly Decision[] {
  const { id, state, inFlight, kind } = report;
  if (isAnswerQuestioned(id, record.tasks)) return record.reports.some((each) => each.inFlight) ? [] : ['retry'];
  if (isSettled(state) || state === 'sending' || inFlight) return [];
  const canCorrect = state !== 'unknown' && CORRECTABLE_FIELDS[kind].length > 0;
  return DECISIONS.filter((decision) => (decision !== 'correct' || canCorrect) && (decision !== 'retry' || isHead));
}

/** What people are asked about a report as it stands; null when nothing can be decided about it. */
export function questionOn(record: TowRecord, report: Report): string | null {
  if (decisionsOn(record, report, true).length === 0) return null;
  const asked = record.tasks.filter(({ report_id }) => report_id === report.id);
  return [report.revision, report.state, ...asked.map(questionOf)].join(' ');
}

export const formOfDecision = (report: Report, decision: Decision) => `${decision}-${report.id}`;

/** The forms to decide about a report; behind a fold where nobody is asked. */
export function DecideReport({
  model,
  report,
  isAsked = false,
}: {
  model: TowModel;
  report: Report;
  isAsked?: boolean;
}) {
  const { viewer, failure } = model;
  const isOver = isSettled(report.state) && !isAnswerQuestioned(report.id, model.record.tasks);
  if (isOver || !viewer.may('dispatcher')) return null;
  const decisions = decisionsOn(model.record, report, waitingOf(model, report)?.kind !== 'behind');
  const wasRefused = DECISIONS.some((decision) => failure?.form === formOfDecision(report, decision));
  const forms = (
    <>
      {decisions.length === 0 && <p class="muted">{viewer.words.towReports.inFlight}</p>}
      <div class="decisions">
        {decisions.map((decision) => (
          <DecisionForm model={model} report={report} decision={decision} />
        ))}
      </div>
    </>
  );
  return (
    <Offer model={model} id={`offer-${report.id}`} about={[decisions, questionOn(model.record, report)]}>
      {isAsked ? (
        forms
      ) : (
        <Folded label={viewer.words.towReports.decide} isOpen={wasRefused} class="plain">
          {forms}
        </Folded>
      )}
    </Offer>
  );
}

function DecisionForm({ model, report, decision }: { model: TowModel; report: Report; decision: Decision }) {
  const { viewer, failure, path } = model;
  const { words } = viewer;
  const form = formOfDecision(report, decision);
  const label = words.terms.actions[decision];
  const action = `${path}/reports/${encodeURIComponent(report.id)}/${decision}`;
  return (
    <Folded label={label} isOpen={failure?.form === form} group={`decide-${report.id}`}>
      <PostForm
        viewer={viewer}
        action={action}
        id={`form-${form}`}
        label={label}
        question={questionOn(model.record, report)}
      >
        <FormProblem model={model} form={form} />
        <p class="muted">{hintOf(model, report, decision)}</p>
        {decision === 'correct' && <CorrectionFields viewer={viewer} report={report} form={form} failure={failure} />}
        {(decision === 'waive' || decision === 'accept') && (
          <Field
            viewer={viewer}
            form={form}
            name="reason"
            label={words.towReports.reasonLabel}
            rows={2}
            isRequired
            failure={failure}
            maxLength={500}
          />
        )}
        <p class="form-end">
          <button type="submit" class={decision === 'waive' ? 'danger' : 'main'}>
            {label}
          </button>
        </p>
      </PostForm>
    </Folded>
  );
}

function hintOf({ viewer }: TowModel, { kind, state }: Report, decision: Decision): string {
  const words = viewer.words.towReports;
  switch (decision) {
    case 'correct':
      return words.correctHint;
    case 'retry':
      return isSettled(state) ? words.sendAgainHint : words.retryHint;
    case 'waive':
      return kind === 'invoice' ? words.waiveInvoiceHint : words.waiveHint;
    case 'accept':
      return words.acceptHint;
  }
}
