import type { Failure } from '../answers';
import type { Viewer } from '../viewer';
import { English, ruleIn } from './english';
import { fieldId } from './form';

/** Why a form had no effect: the reason, and every field that fails a rule with a link to it. */
export function Problem({ viewer, failure, form }: { viewer: Viewer; failure: Failure | null; form: string }) {
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
              <a href={`#${fieldId(form, field)}`}>
                <bdi>{field}</bdi>
              </a>
              {': '}
              {ruleIn(viewer, rule)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
