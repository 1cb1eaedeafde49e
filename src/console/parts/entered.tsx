import { enteredIn } from '../kept-form';
import type { Viewer } from '../viewer';
import { fieldLabel } from './field-label';
import { Written } from './text';

/** What was entered into a form that had no effect, to read it and to copy it from here; nothing when nothing was. */
export function Entered(props: {
  readonly viewer: Viewer;
  readonly entered: URLSearchParams;
  readonly isOpen?: boolean;
}) {
  const { viewer, entered, isOpen = false } = props;
  const entries = enteredIn(entered);
  if (entries.length === 0) return null;
  return (
    <details class="entered" {...(isOpen ? { open: true } : {})}>
      <summary>{viewer.words.common.entered}</summary>
      <dl class="facts">
        {entries.map(([name, value]) => (
          <>
            <dt>{fieldLabel(viewer, name) ?? <bdi>{name}</bdi>}</dt>
            <dd>
              <Written>{value}</Written>
            </dd>
          </>
        ))}
      </dl>
    </details>
  );
}
