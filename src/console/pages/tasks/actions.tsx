import type { Child } from 'hono/jsx';
import { ACTION_ROLES, needsReason, type TaskAction } from '../../../domain/outbox/decisions';
import type { FormFailure } from '../../page';
import { DecisionForm, CorrectionFields, reportHint } from '../../parts/decisions';
import type { Viewer } from '../../viewer';
import type { TaskRow } from './model';

/** The forms of one task in the list. */
export interface ActionProps {
  readonly viewer: Viewer;
  readonly row: TaskRow;
  /** The address of the list, to which the forms are sent. */
  readonly here: string;
  /** The row that is looked at once this one is decided. */
  readonly next: string;
  readonly failure: FormFailure | null;
}

/** Names the form of a decision on a row, so that a refusal is shown there. */
export const formOf = (anchor: string, action: TaskAction) => `${action}-${anchor}`;

export function Actions(props: ActionProps) {
  const { viewer, row } = props;
  const { messages } = viewer;
  const { actions } = row.task;
  if (actions.length === 0) return <p class="muted tasks-no-action">{messages.tasks.closesItself}</p>;
  const allowed = allowedOf(viewer, row);
  if (allowed.length === 0) {
    const needed = ACTION_ROLES[actions.includes('resume') ? 'resume' : 'resolve'];
    return <p class="muted tasks-no-action">{messages.tasks.mayNot({ role: messages.terms.roles[needed] })}</p>;
  }
  return (
    <div class="tasks-actions">
      {allowed.map((action, index) => (
        <Action {...props} action={action} isFirst={index === 0} />
      ))}
    </div>
  );
}

function allowedOf(viewer: Viewer, { task }: TaskRow): readonly TaskAction[] {
  return task.actions.filter((action) => viewer.may(ACTION_ROLES[action]));
}

/** The names of the forms of a row. */
export function formsOf(viewer: Viewer, row: TaskRow): string[] {
  return allowedOf(viewer, row)
    .filter((action) => action !== 'correct' || (row.task.report !== null && !isOfViolation(row)))
    .map((action) => formOf(row.anchor, action));
}

type OneAction = ActionProps & { readonly action: TaskAction; readonly isFirst: boolean };

function Action(props: OneAction) {
  const { row, action, failure, viewer } = props;
  const { report } = row.task;
  if (action !== 'correct') {
    if (!needsReason(action)) return <RowForm {...props} layout="inline" />;
    return (
      <Fold {...props}>
        <RowForm {...props} isFirst layout="block" />
      </Fold>
    );
  }
  if (isOfViolation(row)) return <CorrectOnPage {...props} />;
  if (report === null) return null;
  return (
    <Fold {...props}>
      <RowForm {...props} isFirst layout="block">
        <CorrectionFields viewer={viewer} report={report} form={formOf(row.anchor, action)} failure={failure} />
      </RowForm>
    </Fold>
  );
}

/** A form of a row. It names what the decision is about, so that it can be answered after the task is closed. */
function RowForm(props: OneAction & { readonly layout: 'block' | 'inline'; readonly children?: Child }) {
  const { viewer, row, here, next, failure, action, isFirst, layout, children } = props;
  const { task, anchor, question } = row;
  const hidden = {
    decision: action,
    task: task.id,
    tow: task.towing_reference_id,
    report: task.report_id,
    violation: task.violation_id,
    operation: task.operation,
    difference: task.difference_id,
    next,
  };
  return (
    <DecisionForm
      viewer={viewer}
      decision={action}
      form={formOf(anchor, action)}
      address={here}
      question={question}
      failure={failure}
      hidden={hidden}
      hint={hintOf(viewer, row, action)}
      layout={layout}
      isMain={isFirst}
      asksReference={action === 'accept' && isOfViolation(row)}
    >
      {children}
    </DecisionForm>
  );
}

/** A decision that needs input is folded behind its name; one of them is open at a time. */
function Fold({ children, ...props }: OneAction & { readonly children: Child }) {
  const { viewer, row, failure, action, isFirst } = props;
  return (
    <details name={`decide-${row.anchor}`} open={failure?.form === formOf(row.anchor, action)}>
      <summary class={isFirst ? 'button main' : 'button'}>{viewer.messages.terms.actions[action]}</summary>
      <div class="tasks-fold">{children}</div>
    </details>
  );
}

/** A violation has many fields, so it is corrected on its own page. */
function CorrectOnPage({ viewer, row, isFirst }: OneAction) {
  return (
    <a
      class={isFirst ? 'button main' : 'button'}
      href={`/violations/${encodeURIComponent(row.task.violation_id ?? '')}#form-correct`}
    >
      {viewer.messages.tasks.correctOnPage}
    </a>
  );
}

function hintOf(viewer: Viewer, row: TaskRow, action: TaskAction): string {
  const { tasks } = viewer.messages;
  switch (action) {
    case 'resolve':
      return tasks.resolveHint;
    case 'resume':
      return tasks.resumeHint;
    case 'expect':
      return tasks.expectHint;
    case 'retry':
      if (!isOfViolation(row)) break;
      return WITHOUT_CHECK.includes(row.task.type) ? tasks.violationHints.retryAllTheSame : tasks.violationHints.retry;
    case 'waive':
      if (isOfViolation(row)) return tasks.violationHints.waive;
      break;
    case 'correct':
    case 'accept':
      break;
  }
  return reportHint(viewer, action, row.task.report?.kind);
}

const WITHOUT_CHECK: readonly string[] = ['active_ticket', 'ticket_check_refused', 'ticket_unknown'];

/** A task about a report may name the violation of its tow too. */
function isOfViolation({ task }: TaskRow): boolean {
  return task.violation_id !== undefined && task.report_id === undefined;
}
