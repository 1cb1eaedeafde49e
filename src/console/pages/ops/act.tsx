import type { Child } from 'hono/jsx';
import type { Failure } from '../../answers';
import { Field, PostForm } from '../../parts/form';
import { Problem } from '../../parts/problem';
import type { Viewer } from '../../viewer';

/**
 * Something that ops can do: folded away, so that it takes two presses, with the reason that the audit keeps. A refresh of
 * the page leaves one that is open as it is (ops.js).
 */
export function Act(props: {
  readonly viewer: Viewer;
  readonly form: string;
  readonly action: string;
  readonly label: string;
  /** What it does and to what, for whoever cannot see where it stands. */
  readonly about: string;
  readonly hint?: string;
  /** The words of the button that does it; those of the label when left out. */
  readonly sure?: string;
  readonly isDanger?: boolean;
  readonly hasReason?: boolean;
  readonly failure: Failure | null;
  readonly children?: Child;
}) {
  const { viewer, form, action, label, about, hint, failure, children } = props;
  const words = viewer.words.ops;
  return (
    <details class="act" id={`act-${form}`} open={failure?.form === form}>
      <summary class="button" aria-label={about}>
        {label}
      </summary>
      <PostForm viewer={viewer} action={action} label={about}>
        <Problem viewer={viewer} failure={failure} form={form} />
        {hint !== undefined && <p>{hint}</p>}
        {props.hasReason === true && (
          <Field
            viewer={viewer}
            form={form}
            name="reason"
            label={words.reason}
            hint={words.reasonHint}
            maxLength={REASON_MAX}
            autocomplete="off"
            failure={failure}
          />
        )}
        {children}
        <div>
          <button class={props.isDanger === true ? 'danger' : 'main'}>{props.sure ?? label}</button>
        </div>
      </PostForm>
    </details>
  );
}

const REASON_MAX = 500;
