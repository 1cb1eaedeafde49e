import type { Child } from 'hono/jsx';
import type { FormFailure } from '../page';
import { valueUnder, type Messages } from '../messages';
import type { Viewer } from '../viewer';
import { Fact, English, ruleIn, UserText } from './text';
import { fieldId } from './form';

/**
 * The reason of a refusal, with a link to each invalid field. `showsEntered`: also lists the entered fields, for a form
 * that may be gone.
 */
export function Problem(props: {
  readonly viewer: Viewer;
  readonly failure: FormFailure | null;
  readonly form: string;
  readonly showsEntered?: boolean;
  /** Follows the reason. */
  readonly children?: Child;
}) {
  const { viewer, failure, form, showsEntered = false, children } = props;
  if (failure?.form !== form) return null;
  const { refusal } = failure;
  const { messages } = viewer;
  const message = valueUnder(messages.refusals, refusal.code);
  return (
    <div class="problem" role="alert" tabindex={-1} data-focus data-code={refusal.code}>
      <h2>{messages.common.problem}</h2>
      {refusal.details.length === 0 || refusal.code !== 'field_invalid' ? (
        <p>{message ?? <English viewer={viewer}>{refusal.message}</English>}</p>
      ) : (
        <p>{messages.common.problemFields}</p>
      )}
      {children}
      {refusal.details.length > 0 && (
        <ul>
          {refusal.details.map(({ field, rule }) => (
            <li>
              <FieldName viewer={viewer} field={field} form={form} />
              {': '}
              {ruleIn(viewer, rule, (name) => fieldLabel(viewer, name, form) ?? name)}
            </li>
          ))}
        </ul>
      )}
      {showsEntered && <Entered viewer={viewer} entered={failure.entered} isOpen />}
    </div>
  );
}

/** The label of a field, with a link to it. The whole form has no place of its own, nor has a field without a label. */
function FieldName({ viewer, field, form }: { viewer: Viewer; field: string; form: string }) {
  const label = fieldLabel(viewer, field, form);
  if (label === null) return <bdi>{field}</bdi>;
  if (field === WHOLE_FORM) return <>{label}</>;
  return <a href={`#${field.startsWith(ONE_HOLD) ? 'holds' : fieldId(form, field)}`}>{label}</a>;
}

/** The API names a hold that blocks a fact by its id (domain/tow/dispatch-rules.ts). The page lists the holds in one section. */
const ONE_HOLD = 'holds.';

/** The name under which the API refuses the body of a call as a whole. */
const WHOLE_FORM = 'body';

/** The entered fields of a refused form, for copying. */
export function Entered(props: {
  readonly viewer: Viewer;
  readonly entered: URLSearchParams;
  readonly isOpen?: boolean;
}) {
  const { viewer, entered, isOpen = false } = props;
  const entries = enteredFields(viewer, entered);
  if (entries.length === 0) return null;
  return (
    <details class="entered" {...(isOpen ? { open: true } : {})}>
      <summary>{viewer.messages.common.entered}</summary>
      <dl class="facts">
        {entries.map(([label, value]) => (
          <Fact label={label}>
            <UserText>{value}</UserText>
          </Fact>
        ))}
      </dl>
    </details>
  );
}

/** The entered fields by their labels. Fields without a label are hidden fields of the page. */
function enteredFields(viewer: Viewer, form: URLSearchParams): [label: string, value: string][] {
  return [...form].flatMap(([name, value]): [string, string][] => {
    const label = fieldLabel(viewer, name);
    return label === null || value.trim() === '' ? [] : [[label, value]];
  });
}

/** The label of an API field, in a form where forms differ; null if no form has it. */
export function fieldLabel({ messages }: Viewer, name: string, form: string | null = null): string | null {
  const image = /^images\.(\d+)$/.exec(name);
  if (image) return messages.common.image({ number: image[1] ?? '' });
  if (name === 'images' && form === 'photos') return messages.tow.sections.photos;
  let labels = LABELS.get(messages);
  if (labels === undefined) {
    labels = labelsIn(messages);
    LABELS.set(messages, labels);
  }
  return labels.get(name) ?? labels.get(name.split('.', 1)[0] ?? '') ?? null;
}

/** Made once per language. */
const LABELS = new WeakMap<Messages, ReadonlyMap<string, string>>();

function labelsIn(messages: Messages): ReadonlyMap<string, string> {
  const { towFacts, towDispatch, violationForm, keys, signIn, tow, common } = messages;
  return new Map<string, string>([
    ...Object.entries(violationForm.fields),
    ...Object.entries(towFacts.fields),
    ['reason', common.reason],
    ['crew', messages.terms.crew],
    ['truck', messages.terms.truck],
    ['yard', towDispatch.yard.yard],
    ['slot', towDispatch.yard.slot],
    ['text', towDispatch.notes.text],
    ['holds', towDispatch.holds.title],
    ['violation_id', towDispatch.link.id],
    ['violation_reference_id', tow.serviceViolation],
    ['zone_id', violationForm.fields.zoneId],
    ['images', violationForm.fields.images],
    ['name', keys.name],
    ['role', keys.role],
    ['grace_hours', keys.grace],
    ['key', signIn.key],
    [WHOLE_FORM, common.wholeForm],
  ]);
}
