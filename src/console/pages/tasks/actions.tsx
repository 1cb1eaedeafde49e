import type { Child } from 'hono/jsx';
import type { TaskAction } from '../../../domain/tasks';
import type { Failure } from '../../answers';
import { Field, PostForm } from '../../parts/form';
import { Problem } from '../../parts/problem';
import type { Viewer } from '../../viewer';
import { CorrectionFields } from '../tow/correction';
import type { TaskRow } from './read';

/** The forms of one task: what can be decided, in place. */
export interface ActionProps {
  readonly viewer: Viewer;
  readonly row: TaskRow;
  /** The address of the list, to which the forms are sent. */
  readonly here: string;
  /** The row that is looked at once this one is decided. */
  readonly next: string;
  readonly failure: Failure | null;
}

/** Names the form of a decision on a row, so that a refusal is shown there. */
export const formOf = (anchor: string, action: TaskAction) => `${action}-${anchor}`;

export function Actions(props: ActionProps) {
  const { viewer, row } = props;
  const { words } = viewer;
  const { actions } = row.task;
  if (actions.length === 0) return <p class="muted tasks-no-action">{words.tasks.closesItself}</p>;
  const needed = actions.includes('resume') ? 'ops' : 'dispatcher';
  if (!viewer.may(needed)) return <p class="muted tasks-no-action">{words.tasks.mayNot(words.terms.roles[needed])}</p>;
  return (
    <div class="tasks-actions">
      {actions.map((action, index) => (
        <Action {...props} action={action} isFirst={index === 0} />
      ))}
    </div>
  );
}

type OneAction = ActionProps & { readonly action: TaskAction; readonly isFirst: boolean };

function Action(props: OneAction) {
  const { viewer, row, action } = props;
  switch (action) {
    case 'correct':
      return isOfViolation(row) ? <CorrectOnPage {...props} /> : <Correct {...props} />;
    case 'waive':
    case 'accept':
      return <WithReason {...props} />;
    case 'retry':
      return (
        <DecisionForm {...props}>
          <Submit {...props} hint={retryHint(viewer, row)} />
        </DecisionForm>
      );
    case 'resolve':
    case 'resume':
      return <WithNote {...props} />;
  }
}

/** A form of a task: it names what is decided on even when the task is gone by then. */
function DecisionForm(props: OneAction & { readonly children: Child; readonly isTall?: boolean }) {
  const { viewer, row, here, next, failure, action, isTall = false, children } = props;
  const { task, anchor, question } = row;
  const form = formOf(anchor, action);
  const named = {
    decision: action,
    task: task.id,
    tow: task.towing_reference_id,
    report: task.report_id,
    violation: task.violation_id,
    operation: task.operation,
    next,
  };
  return (
    <PostForm viewer={viewer} action={here} class={isTall ? 'form' : 'tasks-inline'} question={question}>
      {Object.entries(named).map(
        ([name, value]) => value !== undefined && <input type="hidden" name={name} value={value} />,
      )}
      <Problem viewer={viewer} failure={failure} form={form} />
      {children}
    </PostForm>
  );
}

function Submit({ viewer, action, isFirst, hint }: OneAction & { readonly hint?: string }) {
  const tone = action === 'waive' ? 'danger' : isFirst ? 'main' : '';
  return (
    <button type="submit" class={tone} title={hint}>
      {viewer.words.terms.actions[action]}
    </button>
  );
}

/** A decision that needs more than a press stands behind its name; one of them is open at a time. */
function Fold({ children, ...props }: OneAction & { readonly children: Child }) {
  const { viewer, row, failure, action, isFirst } = props;
  return (
    <details name={`decide-${row.anchor}`} open={failure?.form === formOf(row.anchor, action)}>
      <summary class={isFirst ? 'button main' : 'button'}>{viewer.words.terms.actions[action]}</summary>
      <div class="tasks-fold">{children}</div>
    </details>
  );
}

function Correct(props: OneAction) {
  const { viewer, row, failure } = props;
  if (row.report === null) return null;
  return (
    <Fold {...props}>
      <DecisionForm {...props} isTall>
        <p class="muted">{viewer.words.towReports.correctHint}</p>
        <CorrectionFields viewer={viewer} report={row.report} form={formOf(row.anchor, 'correct')} failure={failure} />
        <p>
          <Submit {...props} isFirst />
        </p>
      </DecisionForm>
    </Fold>
  );
}

/** The form of a violation has many fields: they stand on its page. */
function CorrectOnPage({ viewer, row, isFirst }: OneAction) {
  return (
    <a
      class={isFirst ? 'button main' : 'button'}
      href={`/violations/${encodeURIComponent(row.task.violation_id ?? '')}#form-correct`}
    >
      {viewer.words.tasks.correctOnPage}
    </a>
  );
}

function WithReason(props: OneAction) {
  const { viewer, row, action, failure } = props;
  const { tasks } = viewer.words;
  const form = formOf(row.anchor, action);
  return (
    <Fold {...props}>
      <DecisionForm {...props} isTall>
        <p class="muted">{reasonHint(props)}</p>
        <Field
          viewer={viewer}
          form={form}
          name="reason"
          label={tasks.reason}
          rows={2}
          maxLength={500}
          isRequired
          failure={failure}
        />
        {action === 'accept' && isOfViolation(row) && (
          <Field
            viewer={viewer}
            form={form}
            name="violation_reference_id"
            label={tasks.acceptReference}
            hint={tasks.acceptReferenceHint}
            autocomplete="off"
            maxLength={200}
            isLatin
            failure={failure}
          />
        )}
        <p>
          <Submit {...props} isFirst />
        </p>
      </DecisionForm>
    </Fold>
  );
}

/** Needs no word, and takes one. */
function WithNote(props: OneAction) {
  const { viewer, row, action, failure } = props;
  const { tasks, common } = viewer.words;
  const form = formOf(row.anchor, action);
  return (
    <DecisionForm {...props}>
      <input
        name="reason"
        id={`${form}-reason`}
        dir="auto"
        maxlength={500}
        aria-label={tasks.note}
        placeholder={`${tasks.note} (${common.optional})`}
        value={failure?.form === form ? (failure.entered.get('reason') ?? '') : ''}
      />
      <Submit {...props} hint={noteHint(props)} />
    </DecisionForm>
  );
}

function noteHint({ viewer, row, action }: OneAction): string {
  const { tasks } = viewer.words;
  if (action !== 'resolve') return tasks.resumeHint;
  return row.task.type === 'answer_broken' ? tasks.resolveAnswerHint : tasks.resolveHint;
}

const WITHOUT_CHECK: readonly string[] = ['active_ticket', 'ticket_check_refused', 'ticket_unknown'];

/** A question about a report may name the violation of its tow, too. */
function isOfViolation({ task }: TaskRow): boolean {
  return task.violation_id !== undefined && task.report_id === undefined;
}

function retryHint(viewer: Viewer, row: TaskRow): string {
  const { tasks, towReports } = viewer.words;
  const { task } = row;
  if (task.type === 'answer_broken') return towReports.sendAgainHint;
  if (!isOfViolation(row)) return towReports.retryHint;
  return WITHOUT_CHECK.includes(task.type) ? tasks.violationHints.retryAllTheSame : tasks.violationHints.retry;
}

function reasonHint({ viewer, row, action }: OneAction): string {
  const { tasks, towReports } = viewer.words;
  if (action === 'accept') return towReports.acceptHint;
  if (isOfViolation(row)) return tasks.violationHints.waive;
  return row.report?.kind === 'invoice' ? towReports.waiveInvoiceHint : towReports.waiveHint;
}
