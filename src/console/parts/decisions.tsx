import { ENTRY_KINDS, type EntryKind } from '../../domain/vocabulary';
import type { Child } from 'hono/jsx';
import { correctionBody, fieldsOfKind } from '../../contracts/tow/facts';
import type { ReportView } from '../../contracts/operator';
import { ROUTES } from '../../contracts/operator-routes';
import type { Task } from '../../contracts/outbox/records';
import type { Actor } from '../../domain/ops/audit';
import type { OperatorApi } from '../../workflow/operator-port';
import { TASK_TYPES } from '../../domain/ops/tasks';
import { formatted } from '../messages';
import { oneOf, type Viewer } from '../viewer';
import { questionOf, resolveTaskCall } from '../../workflow/outbox/decision-call';
import type { FormFailure, PageResult, PageTools, PostedForm } from '../page';
import { readRecord, submit } from '../api-calls';
import { CORRECTABLE } from '../../domain/tow/facts';
import { changedIn, unchangedAsNow, Was, bodyOf, fieldTime } from '../forms';
import { Field, Folded, PostForm, type FieldProps } from './form';
import { needsReason, type DecisionAction, type TaskAction } from '../../domain/outbox/decisions';
import { Problem } from './problem';

type SentReport = Pick<ReportView, 'kind' | 'body'>;

type TaskNaming = Pick<Task, 'type' | 'report_id' | 'operation'> & Partial<Pick<Task, 'actions'>>;

/** Title and advice of a task; general ones for an unknown type. */
export function taskMessages(viewer: Viewer, task: TaskNaming): { readonly title: string; readonly advice: string } {
  const { types, other, notCorrectable } = viewer.messages.taskTypes;
  const type = oneOf(TASK_TYPES, task.type);
  const kind = kindOf(task);
  if (type === null) return other;
  return {
    ...types[type],
    title: formatted(types[type].title, { operation: kind === null ? '' : viewer.messages.terms.operations[kind] }),
    ...(type === 'report_refused' && task.actions?.includes('correct') === false ? { advice: notCorrectable } : {}),
  };
}

/** The report kind, from the prefix of the report id, or the operation; null without both. */
function kindOf({ report_id: reportId, operation }: TaskNaming): EntryKind | null {
  return oneOf(ENTRY_KINDS, reportId?.split('-')[0]) ?? operation ?? null;
}

/** The current question of a task; '' if it is closed. */
export async function questionOfTask(api: OperatorApi, actor: Actor, id: string): Promise<string> {
  const task = await readRecord(api, ROUTES.readTask, { actor, params: { task_id: id } });
  return task === null ? '' : questionOf(task);
}

/** Closes a task from the page of the tow or violation that it is about. */
export function submitResolve(
  tools: Pick<PageTools, 'api'> & { show(posted: PostedForm, failure: FormFailure): Promise<PageResult> },
  posted: PostedForm,
  { formOfTask, next }: { readonly formOfTask: (id: string) => string; readonly next: string },
): Promise<PageResult> {
  const task = posted.params('task');
  return submit(tools.api, posted, {
    ...resolveTaskCall(task),
    body: decisionBody('resolve', posted.form),
    question: () => questionOfTask(tools.api, posted.actor, task),
    form: formOfTask(task),
    next,
    done: 'resolved',
    again: (failure) => tools.show(posted, failure),
  });
}

/** The folded form that closes a task on the page of the tow or violation that it is about. */
export function ResolveForm({
  model,
  task,
  form,
  problem,
}: {
  model: { readonly viewer: Viewer; readonly failure: FormFailure | null; readonly path: string };
  task: Task;
  form: string;
  /** Shows a refusal; by default all of it. */
  problem?: Child;
}) {
  const { resolve } = model.viewer.messages.towReports;
  return (
    <FoldedDecision
      model={model}
      decision="resolve"
      form={form}
      address={`${model.path}/tasks/${encodeURIComponent(task.id)}/resolve`}
      label={resolve}
      question={questionOf(task)}
      problem={problem}
    />
  );
}

/** The fields of a report correction, filled with the sent values. What was not sent may stay empty. */

const NUMBERS = fieldsOfKind(correctionBody, 'number');
const TIMESTAMPS = fieldsOfKind(correctionBody, 'timestamp');
const LATIN: readonly string[] = [...NUMBERS, 'vehicle_type', 'payment_status'];

export function CorrectionFields(props: {
  viewer: Viewer;
  report: SentReport;
  form: string;
  failure: FormFailure | null;
}) {
  const { viewer, report, form } = props;
  const failure = unchangedAsNow(props.failure);
  return (
    <div class="fields">
      {CORRECTABLE[report.kind].map((name) => (
        <>
          <Was name={name} value={enteredValue(report, name)} />
          <Field
            viewer={viewer}
            form={form}
            name={name}
            label={viewer.messages.towFacts.fields[name]}
            value={enteredValue(report, name)}
            failure={failure}
            autocomplete="off"
            isRequired={report.body[name] !== undefined}
            {...(LATIN.includes(name) ? { isLatin: true } : {})}
            {...(TIMESTAMPS.includes(name) ? { type: 'datetime-local' as const } : {})}
            {...(NUMBERS.includes(name) ? { inputMode: name === 'delay_in_days' ? 'numeric' : 'decimal' } : {})}
          />
        </>
      ))}
    </div>
  );
}

/** The body of a correction: only the changed fields, so that the record keeps exactly those as old and new. */
export function correctionIn(form: URLSearchParams): ReturnType<typeof bodyOf> {
  return bodyOf(form, { only: changedIn(form), numbers: NUMBERS, timestamps: TIMESTAMPS });
}

/** The value of a report field in its form. */
function enteredValue({ body }: SentReport, name: string): string {
  const value = body[name];
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  if (!TIMESTAMPS.includes(name)) return String(value);
  const ms = Date.parse(String(value));
  return Number.isNaN(ms) ? '' : fieldTime(ms);
}

/** The form of a decision about a report, a violation or a task, for every page that offers one. */

const REASON_MAX = 500;

interface DecisionFormProps {
  readonly viewer: Viewer;
  readonly decision: TaskAction;
  /** Names the form, so that a refusal is shown in it. */
  readonly form: string;
  /** The address that the form is sent to. */
  readonly address: string;
  /** What the form answers; see `submit`. Null if it may always be sent. */
  readonly question: string | null;
  readonly failure: FormFailure | null;
  /** The text of the button; by default the name of the decision. */
  readonly label?: string;
  /** What the decision does. */
  readonly hint?: string;
  /** Shows a refusal; by default all of it. */
  readonly problem?: Child;
  /** `inline`: one row, with the hint as the tooltip of the button. `folded`: a landmark of its page, with an id. */
  readonly layout?: 'block' | 'inline' | 'folded';
  readonly isMain?: boolean;
  /** True to accept a violation: asks for its reference at the service. */
  readonly asksReference?: boolean;
  readonly hidden?: Readonly<Record<string, string | undefined>>;
  /** The fields of a correction. */
  readonly children?: Child;
}

export function DecisionForm(props: DecisionFormProps) {
  const { viewer, decision, form, address, question, failure, hint, hidden = {}, isMain = true, children } = props;
  const isInline = props.layout === 'inline';
  const label = props.label ?? viewer.messages.terms.actions[decision];
  const button = (
    <button
      type="submit"
      class={decision === 'waive' ? 'danger' : isMain ? 'main' : ''}
      {...(isInline ? { title: hint } : {})}
    >
      {label}
    </button>
  );
  return (
    <PostForm
      viewer={viewer}
      action={address}
      class={isInline ? 'tasks-inline' : 'form'}
      {...(props.layout === 'folded' ? { id: `form-${form}`, label } : {})}
      question={question}
    >
      {Object.entries(hidden).map(
        ([name, value]) => value !== undefined && <input type="hidden" name={name} value={value} />,
      )}
      {props.problem ?? <Problem viewer={viewer} failure={failure} form={form} />}
      {!isInline && hint !== undefined && <p class="muted">{hint}</p>}
      {children}
      {props.asksReference === true && <ReferenceField viewer={viewer} form={form} failure={failure} />}
      {needsReason(decision) && <ReasonField viewer={viewer} form={form} failure={failure} rows={2} isRequired />}
      {takesNote(decision) &&
        (isInline ? (
          <InlineNote viewer={viewer} form={form} failure={failure} />
        ) : (
          <ReasonField
            viewer={viewer}
            form={form}
            failure={failure}
            rows={2}
            label={viewer.messages.towReports.resolveReason}
          />
        ))}
      {isInline ? button : <p class="form-end">{button}</p>}
    </PostForm>
  );
}

/** The form of a decision, folded behind its name, on the page of the tow or violation that it is about. */
export function FoldedDecision({
  model: { viewer, failure },
  group,
  ...props
}: Omit<DecisionFormProps, 'viewer' | 'failure' | 'layout'> & {
  readonly model: { readonly viewer: Viewer; readonly failure: FormFailure | null };
  /** Of the forms with one name, one is open at a time. */
  readonly group?: string;
}) {
  const label = props.label ?? viewer.messages.terms.actions[props.decision];
  return (
    <Folded label={label} isOpen={failure?.form === props.form} {...(group === undefined ? {} : { group })}>
      <DecisionForm {...props} viewer={viewer} failure={failure} layout="folded" />
    </Folded>
  );
}

/** What a decision on a report does. */
export function reportHint({ messages }: Viewer, decision: DecisionAction, kind: string | undefined): string {
  const { towReports } = messages;
  switch (decision) {
    case 'correct':
      return towReports.correctHint;
    case 'retry':
      return towReports.retryHint;
    case 'waive':
      return kind === 'invoice' ? towReports.waiveInvoiceHint : towReports.waiveHint;
    case 'accept':
      return towReports.acceptHint;
  }
}

/** What a decision on a report or violation answers, with its tasks; null if nothing can be decided. */
export function questionAbout(
  entry: Pick<ReportView, 'decisions' | 'revision'> & { readonly state: string },
  tasks: readonly Task[],
): string | null {
  return entry.decisions.length === 0 ? null : [entry.revision, entry.state, ...tasks.map(questionOf)].join(' ');
}

/** The body that such a form sends, except for a correction. */
export function decisionBody(decision: Exclude<TaskAction, 'correct'>, form: URLSearchParams) {
  return bodyOf(form, { only: decision === 'retry' ? [] : ['reason', 'violation_reference_id'] });
}

type InputProps = Pick<FieldProps, 'viewer' | 'form' | 'failure'>;

/** Why a person decides so; for the audit, never sent to the service. */
export function ReasonField({
  label,
  ...props
}: Omit<FieldProps, 'name' | 'maxLength' | 'label'> & { label?: string }) {
  return <Field {...props} name="reason" maxLength={REASON_MAX} label={label ?? props.viewer.messages.common.reason} />;
}

function ReferenceField(props: InputProps) {
  const { violations } = props.viewer.messages;
  return (
    <Field
      {...props}
      name="violation_reference_id"
      label={violations.referenceLabel}
      hint={violations.referenceHint}
      autocomplete="off"
      maxLength={200}
      isLatin
    />
  );
}

/** An optional reason in one row with the button. */
function InlineNote({ viewer, form, failure }: InputProps) {
  const { tasks, common } = viewer.messages;
  return (
    <input
      name="reason"
      id={`${form}-reason`}
      dir="auto"
      maxlength={REASON_MAX}
      aria-label={tasks.note}
      placeholder={`${tasks.note} (${common.optional})`}
      value={failure?.form === form ? (failure.entered.get('reason') ?? '') : ''}
    />
  );
}

function takesNote(decision: TaskAction): boolean {
  return decision === 'resolve' || decision === 'resume';
}
