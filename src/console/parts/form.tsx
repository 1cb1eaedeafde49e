import type { Child } from 'hono/jsx';
import type { FormFailure } from '../page';
import type { Viewer } from '../viewer';
import { ruleIn } from './text';
import { sha256Hex } from '../../platform/hash';

/** A form with the session token and an idempotency key, so that it takes effect once. */
export function PostForm(props: {
  readonly viewer: Viewer;
  readonly action: string;
  readonly class?: string;
  readonly id?: string;
  readonly hasFiles?: boolean;
  readonly label?: string;
  /** The question that the form answers; see `submit`. */
  readonly question?: string | null;
  readonly children: Child;
}) {
  const { viewer, action, id, label, question = null, children } = props;
  return (
    <form
      method="post"
      action={action}
      class={props.class ?? 'form'}
      {...(id === undefined ? {} : { id })}
      {...(label === undefined ? {} : { 'aria-label': label })}
      {...(props.hasFiles === true ? { enctype: 'multipart/form-data' } : {})}
    >
      <input type="hidden" name="form_token" value={viewer.formToken} />
      <input type="hidden" name="form_key" value={viewer.formKey()} />
      {question !== null && <input type="hidden" name="question" value={question} />}
      {children}
    </form>
  );
}

export interface FieldProps {
  readonly viewer: Viewer;
  /** The name of the API field; a refusal refers to it. */
  readonly name: string;
  readonly label: string;
  /** The name of the form, to keep ids unique within the page. */
  readonly form: string;
  readonly hint?: string;
  readonly value?: string;
  readonly type?: 'text' | 'search' | 'number' | 'datetime-local' | 'password' | 'tel';
  readonly inputMode?: 'text' | 'decimal' | 'numeric' | 'tel' | 'search';
  readonly step?: string;
  /** The earliest time that may be entered. */
  readonly min?: string;
  /** True for a time that may not lie in the future; needs `tow.js`. */
  readonly isPast?: boolean;
  readonly isRequired?: boolean;
  /** References, plates and numbers are left to right in both languages. */
  readonly isLatin?: boolean;
  readonly rows?: number;
  /** Renders a select. */
  readonly options?: readonly (readonly [value: string, label: string])[];
  readonly suggestions?: readonly string[];
  /** The id of a datalist that several fields share. */
  readonly listId?: string;
  readonly autocomplete?: string;
  readonly maxLength?: number;
  readonly failure?: FormFailure | null;
}

/** A field with label, hint and, after a refusal, the broken rule. */
export function Field(props: FieldProps) {
  const { viewer, name, label, form, hint, isRequired = false } = props;
  const id = fieldId(form, name);
  const failure = props.failure?.form === form ? props.failure : null;
  const rules = failure?.refusal.details.filter(({ field }) => field === name) ?? [];
  const described = [...(hint === undefined ? [] : [`${id}-hint`]), ...(rules.length === 0 ? [] : [`${id}-error`])];
  const value = failure?.entered.get(name) ?? props.value ?? '';
  const common = {
    id,
    name,
    ...(isRequired ? { required: true } : {}),
    ...(props.isLatin === true ? { dir: 'ltr' } : {}),
    ...(described.length === 0 ? {} : { 'aria-describedby': described.join(' ') }),
    ...(rules.length === 0 ? {} : { 'aria-invalid': 'true' as const }),
    ...(props.autocomplete === undefined ? {} : { autocomplete: props.autocomplete }),
    ...(props.maxLength === undefined ? {} : { maxlength: props.maxLength }),
  };
  return (
    <div class={rules.length === 0 ? 'field' : 'field wrong'}>
      <label for={id}>
        {label} {!isRequired && <span class="muted">({viewer.messages.common.optional})</span>}
      </label>
      <Control {...props} value={value} common={common} />
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {rules.length > 0 && (
        <p class="error" id={`${id}-error`}>
          {rules.map((rule) => (
            <span>{ruleIn(viewer, rule.rule)} </span>
          ))}
        </p>
      )}
    </div>
  );
}

function Control(
  props: FieldProps & { readonly value: string; readonly common: Readonly<Record<string, string | number | boolean>> },
) {
  const { value, common, options, rows, suggestions } = props;
  if (options) {
    return (
      <select {...common}>
        {options.map(([each, label]) => (
          <option value={each} selected={each === value}>
            {label}
          </option>
        ))}
      </select>
    );
  }
  if (rows !== undefined) {
    return (
      <textarea {...common} rows={rows} dir="auto">
        {value}
      </textarea>
    );
  }
  const listId = `${String(common['id'])}-list`;
  return (
    <>
      <input
        {...common}
        type={props.type ?? 'text'}
        value={value}
        {...(props.step === undefined ? {} : { step: props.step })}
        {...(props.min === undefined ? {} : { min: props.min })}
        {...(props.isPast === true ? { 'data-past': '' } : {})}
        {...(props.inputMode === undefined ? {} : { inputmode: props.inputMode })}
        {...(props.isLatin === true ? {} : { dir: 'auto' })}
        {...(suggestions || props.listId !== undefined ? { list: props.listId ?? listId } : {})}
      />
      {suggestions && (
        <datalist id={listId}>
          {suggestions.map((each) => (
            <option value={each} />
          ))}
        </datalist>
      )}
    </>
  );
}

export function fieldId(form: string, name: string): string {
  return `${form}-${name.replaceAll(/[^A-Za-z0-9_-]/g, '-')}`;
}

/**
 * Fills in the position of the device into the fields of the enclosing `data-position`, and shows the accuracy or the
 * failure. Hidden without scripts (position.js).
 */
export function UsePosition({ viewer }: { viewer: Viewer }) {
  const { use, asking, found, denied } = viewer.messages.common.position;
  return (
    <div class="position" data-locate-part hidden>
      <button
        type="button"
        data-locate
        data-asking={asking}
        data-found={found({ meters: '{meters}' })}
        data-denied={denied}
      >
        {use}
      </button>
      <p class="hint" role="status" data-locate-state />
    </div>
  );
}

/**
 * Keeps forms during a live refresh (assets/scripts/tow.js). The refresh replaces them only if `about` changed and the
 * user has not edited them; otherwise it shows a stale notice.
 */
export function LiveForm({
  model,
  id,
  about,
  children,
}: {
  /** The viewer, and the address that loads the page again. */
  model: { readonly viewer: Viewer; readonly path: string };
  id: string;
  about: unknown;
  children: Child;
}) {
  const messages = model.viewer.messages.tow;
  return (
    <div id={id} class="live-form" data-live-form={digestOf(about)}>
      <p class="stale" role="status" data-stale hidden>
        {messages.changed} <a href={model.path}>{messages.loadAgain}</a>
      </p>
      {children}
    </div>
  );
}

/** Compares values without writing them into the page; also as the question of a form (`submit`). */
export function digestOf(about: unknown): string {
  return sha256Hex(JSON.stringify(about)).slice(0, 16);
}

/** A form in a `<details>` element, open when its last submission was refused. */
export function Folded({
  label,
  isOpen,
  group,
  class: className = 'folded',
  children,
}: {
  label: Child;
  isOpen: boolean;
  /** At most one form of a group is open. */
  group?: string;
  class?: string;
  children: Child;
}) {
  return (
    <details
      class={className}
      {...(isOpen ? { open: true, 'data-open': true } : {})}
      {...(group === undefined ? {} : { name: group })}
    >
      <summary>{label}</summary>
      <div class="folded-body">{children}</div>
    </details>
  );
}
