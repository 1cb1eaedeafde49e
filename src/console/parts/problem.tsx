import type { Failure } from '../answers';
import type { Viewer } from '../viewer';
import { English, ruleIn } from './english';
import { Entered } from './entered';
import { fieldLabel } from './field-label';
import { fieldId } from './form';

/**
 * Why a form had no effect: the reason, and every field that fails a rule with a link to it. `showsEntered`: also what was
 * entered, where the form may not be there any more.
 */
export function Problem(props: {
  readonly viewer: Viewer;
  readonly failure: Failure | null;
  readonly form: string;
  readonly showsEntered?: boolean;
}) {
  const { viewer, failure, form, showsEntered = false } = props;
  if (failure?.form !== form) return null;
  const { refusal } = failure;
  const { words } = viewer;
  const message = words.refusals.messageOf(refusal.code);
  return (
    <div class="problem" role="alert" tabindex={-1} data-focus>
      <h2>{words.common.problem}</h2>
      {refusal.details.length === 0 || refusal.code !== 'field_invalid' ? (
        <p>{message ?? <English viewer={viewer}>{refusal.message}</English>}</p>
      ) : (
        <p>{words.common.problemFields}</p>
      )}
      {refusal.details.length > 0 && (
        <ul>
          {refusal.details.map(({ field, rule }) => (
            <li>
              <a href={`#${fieldId(form, field)}`}>{fieldLabel(viewer, field) ?? <bdi>{field}</bdi>}</a>
              {': '}
              {ruleIn(viewer, rule)}
            </li>
          ))}
        </ul>
      )}
      {showsEntered && <Entered viewer={viewer} entered={failure.entered} isOpen />}
    </div>
  );
}
