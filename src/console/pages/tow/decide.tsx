import type { ReportView, TowView } from '../../../contracts/operator';
import type { Task } from '../../../contracts/outbox/records';
import { DECISIONS, type DecisionAction } from '../../../domain/outbox/decisions';
import { isSettled } from '../../../domain/outbox/outbox';
import { questionOf } from '../../../workflow/outbox/decision-call';
import {
  CorrectionFields,
  FoldedDecision,
  questionAbout,
  reportHint,
  ResolveForm,
  taskMessages,
} from '../../parts/decisions';
import { FormProblem } from './forms';
import type { TowModel } from './model';
import { Folded, LiveForm } from '../../parts/form';
import { English, Age } from '../../parts/text';
import { ErrorText } from '../../parts/error-text';

/** The question that a decision on the report answers; null if nothing can be decided. */
export function questionOn(tow: TowView, report: ReportView): string | null {
  return questionAbout(
    report,
    tow.tasks.filter(({ report_id }) => report_id === report.id),
  );
}

export const formOfDecision = (report: ReportView, decision: DecisionAction) => `${decision}-${report.id}`;

/** The decision forms of a report, folded away unless a task asks for a decision. */
export function DecideReport({
  model,
  report,
  isAsked = false,
}: {
  model: TowModel;
  report: ReportView;
  isAsked?: boolean;
}) {
  const { viewer, failure } = model;
  const isConcluded = isSettled(report.state);
  if (isConcluded || !viewer.may('dispatcher')) return null;
  const { decisions } = report;
  const wasRefused = DECISIONS.some((decision) => failure?.form === formOfDecision(report, decision));
  const forms = (
    <>
      {decisions.length === 0 && <p class="muted">{viewer.messages.towReports.inFlight}</p>}
      <div class="decisions">
        {decisions.map((decision) => (
          <Decision model={model} report={report} decision={decision} />
        ))}
      </div>
    </>
  );
  return (
    <LiveForm model={model} id={`live-${report.id}`} about={[decisions, questionOn(model.view, report)]}>
      {isAsked ? (
        forms
      ) : (
        <Folded label={viewer.messages.towReports.decide} isOpen={wasRefused} class="plain">
          {forms}
        </Folded>
      )}
    </LiveForm>
  );
}

function Decision({ model, report, decision }: { model: TowModel; report: ReportView; decision: DecisionAction }) {
  const { viewer, failure, path, view } = model;
  const form = formOfDecision(report, decision);
  return (
    <FoldedDecision
      model={model}
      decision={decision}
      form={form}
      address={`${path}/reports/${encodeURIComponent(report.id)}/${decision}`}
      question={questionOn(view, report)}
      problem={<FormProblem model={model} form={form} />}
      hint={reportHint(viewer, decision, report.kind)}
      group={`decide-${report.id}`}
    >
      {decision === 'correct' && <CorrectionFields viewer={viewer} report={report} form={form} failure={failure} />}
    </FoldedDecision>
  );
}

/** The open tasks of the tow, with their forms. */
export function Tasks({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  if (view.tasks.length === 0) return null;
  return (
    <section id="tasks" class="card tow-tasks" aria-labelledby="tasks-title">
      <h2 id="tasks-title">{viewer.messages.tow.sections.tasks}</h2>
      {view.tasks.map((task) => (
        <TaskCard model={model} task={task} />
      ))}
    </section>
  );
}

function TaskCard({ model, task }: { model: TowModel; task: Task }) {
  const { viewer, view } = model;
  const report = view.reports.find(({ id }) => id === task.report_id);
  const { title, advice } = taskMessages(viewer, task);
  return (
    <article class="tow-task" id={`task-${task.id}`}>
      <div class="head">
        <p class="tow-task-words">{title}</p>
        {task.opened_at !== undefined && (
          <p class="muted">
            <Age viewer={viewer} since={task.opened_at} />
          </p>
        )}
      </div>
      <p>
        {report?.last_error ? (
          <ErrorText viewer={viewer} error={report.last_error} />
        ) : (
          <English viewer={viewer}>{task.message}</English>
        )}
      </p>
      <p class="muted">
        {advice}
        {task.hint === 'perhaps_already_accepted' && ` ${viewer.messages.towReports.hints.perhaps_already_accepted}`}
      </p>
      {report && (
        <p>
          <a href={`#report-${report.id}`}>
            {viewer.messages.tow.sections.reports}: {viewer.messages.terms.operations[report.kind]}
          </a>
        </p>
      )}
      {report && <DecideReport model={model} report={report} isAsked />}
      {task.actions.includes('resolve') && viewer.may('dispatcher') && <Resolve model={model} task={task} />}
    </article>
  );
}

export const formOfTask = (id: string) => `resolve-${id}`;

function Resolve({ model, task }: { model: TowModel; task: Task }) {
  const form = formOfTask(task.id);
  return (
    <LiveForm model={model} id={`live-task-${task.id}`} about={questionOf(task)}>
      <ResolveForm model={model} task={task} form={form} problem={<FormProblem model={model} form={form} />} />
    </LiveForm>
  );
}
