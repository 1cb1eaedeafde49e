import type { Task } from '../../../contracts/records';
import { isAnswerQuestioned } from '../../../domain/questioned-answer';
import { English } from '../../parts/english';
import { questionOf } from '../../../workflow/bulk-call';
import { Field, PostForm } from '../../parts/form';
import { Age } from '../../parts/text';
import { LastWords } from '../../parts/why';
import { wordsOfTask } from '../tasks/about';
import { DecideReport } from './decide';
import { FormProblem } from './form-problem';
import type { TowModel } from './model';
import { Folded, Offer } from './offer';

/** What a person must decide about this tow, with what can be done about it. */
export function Tasks({ model }: { model: TowModel }) {
  const { viewer, record } = model;
  if (record.tasks.length === 0) return null;
  return (
    <section id="tasks" class="card tow-tasks" aria-labelledby="tasks-title">
      <h2 id="tasks-title">{viewer.words.tow.sections.tasks}</h2>
      {record.tasks.map((task) => (
        <TaskCard model={model} task={task} />
      ))}
    </section>
  );
}

function TaskCard({ model, task }: { model: TowModel; task: Task }) {
  const { viewer, record } = model;
  const report = record.reports.find(({ id }) => id === task.report_id);
  const { title, advice } = wordsOfTask(viewer, task);
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
        {report?.lastError ? <LastWords error={report.lastError} /> : <English viewer={viewer}>{task.message}</English>}
      </p>
      <p class="muted">
        {advice}
        {task.hint === 'perhaps_already_accepted' && ` ${viewer.words.towReports.hints.perhaps_already_accepted}`}
      </p>
      {report && (
        <p>
          <a href={`#report-${report.id}`}>
            {viewer.words.tow.sections.reports}: {viewer.words.terms.facts[report.kind]}
          </a>
        </p>
      )}
      {report && (task.type !== 'answer_broken' || isAnswerQuestioned(report.id, [task])) && (
        <DecideReport model={model} report={report} isAsked />
      )}
      {task.actions.includes('resolve') && viewer.may('dispatcher') && <Resolve model={model} task={task} />}
    </article>
  );
}

export const formOfTask = (id: string) => `resolve-${id}`;

function Resolve({ model, task }: { model: TowModel; task: Task }) {
  const { viewer, failure, path } = model;
  const words = viewer.words.towReports;
  const form = formOfTask(task.id);
  const action = `${path}/tasks/${encodeURIComponent(task.id)}/resolve`;
  return (
    <Offer model={model} id={`offer-task-${task.id}`} about={questionOf(task)}>
      <Folded label={words.resolve} isOpen={failure?.form === form}>
        <PostForm viewer={viewer} action={action} label={words.resolve} question={questionOf(task)}>
          <FormProblem model={model} form={form} />
          <Field viewer={viewer} form={form} name="reason" label={words.resolveReason} rows={2} failure={failure} />
          <p class="form-end">
            <button type="submit" class="main">
              {words.resolve}
            </button>
          </p>
        </PostForm>
      </Folded>
    </Offer>
  );
}
