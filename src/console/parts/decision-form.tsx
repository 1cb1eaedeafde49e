import type { Child } from 'hono/jsx';
import { needsReason, type TaskAction } from '../../domain/outbox/decisions';
import type { FormFailure } from '../page';
import { bodyOf } from '../forms';
import type { Viewer } from '../viewer';
import { Field, PostForm, type FieldProps } from './form';
import { Problem } from './problem';

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
  readonly id?: string;
  /** The name of the form for screen readers, where it is a landmark of the page. */
  readonly ariaLabel?: string;
  /** The text of the button; by default the name of the decision. */
  readonly label?: string;
  /** What the decision does. */
  readonly hint?: string;
  /** Shows a refusal; by default all of it. */
  readonly problem?: Child;
  /** `inline`: one row, with the hint as the tooltip of the button. */
  readonly layout?: 'block' | 'inline';
  readonly isMain?: boolean;
  /** True to accept a violation: asks for its reference at the service. */
  readonly asksReference?: boolean;
  readonly hidden?: Readonly<Record<string, string | undefined>>;
  /** The fields of a correction. */
  readonly children?: Child;
}

export function DecisionForm(props: DecisionFormProps) {
  const { viewer, decision, form, address, id, question, failure, hint, hidden = {}, isMain = true, children } = props;
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
      {...(id === undefined ? {} : { id })}
      {...(props.ariaLabel === undefined ? {} : { label: props.ariaLabel })}
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
