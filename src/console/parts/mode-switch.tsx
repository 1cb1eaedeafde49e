import type { StatusView } from '../../contracts/operator';
import type { FormFailure } from '../page';
import { PAGES } from '../page-table';
import type { Viewer } from '../viewer';
import { ActionForm } from './ops';

/** The form that stops or resumes all sending, for ops. */
export function ModeSwitch(props: { viewer: Viewer; mode: StatusView['mode']; failure: FormFailure | null }) {
  const { viewer, mode, failure } = props;
  if (!viewer.may('ops')) return null;
  const { states: _, ...messages } = viewer.messages.ops.sending.mode;
  const next = mode.state === 'live' ? 'shadow' : 'live';
  return (
    <ActionForm
      viewer={viewer}
      form="mode"
      action={`${PAGES.withheld.path}/mode`}
      label={messages[next]}
      about={messages[next]}
      hint={messages[`${next}Hint`]}
      isDanger={next === 'shadow'}
      failure={failure}
      hasReason
    >
      <input type="hidden" name="mode" value={next} />
    </ActionForm>
  );
}
