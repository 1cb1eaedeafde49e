import { entryOf } from '../messages';
import type { Viewer } from '../viewer';
import { Entered } from './problem';
import { Ref } from './text';

/** A form that was sent without a session. */
export interface UnsavedForm {
  /** The address that it was sent to. */
  readonly path: string;
  /** Its fields; null for uploads and for forms that must not be shown (`keptForm`). */
  readonly form: URLSearchParams | null;
}

/** That a form was not saved: which one, and what was entered. */
export function Unsaved({ viewer, unsaved }: { viewer: Viewer; unsaved: UnsavedForm }) {
  const { problem, sessionOver } = viewer.messages.common;
  return (
    <div class="problem" role="alert">
      <h2>{problem}</h2>
      <p>{sessionOver}</p>
      <UnsavedName viewer={viewer} unsaved={unsaved} />
      {unsaved.form && <Entered viewer={viewer} entered={unsaved.form} isOpen />}
    </div>
  );
}

/** The action and its record, as far as the address names them. */
function UnsavedName({ viewer, unsaved }: { viewer: Viewer; unsaved: UnsavedForm }) {
  const [, area = '', id = '', ...rest] = partsOf(unsaved.path);
  const isRecord = (area === 'tows' || area === 'violations') && rest.length > 0;
  const action = actionName(viewer, rest, unsaved.form);
  if (action === null && !isRecord) return null;
  return (
    <p>
      {action !== null && <strong>{action}</strong>}
      {action !== null && isRecord && ' · '}
      {isRecord && <Ref>{id}</Ref>}
    </p>
  );
}

function actionName({ messages }: Viewer, rest: readonly string[], form: URLSearchParams | null): string | null {
  const { terms, towDispatch, ops } = messages;
  const [subject = '', action = ''] = [rest.at(-2), rest.at(-1)];
  const queue = entryOf(ops.queues.names, subject);
  if (queue !== null && action === 'pause') return ops.queues.pauseOf({ queue });
  if (queue !== null && action === 'resume') return ops.queues.resumeOf({ queue });
  if (action === 'steps') return entryOf(towDispatch.stepNames, form?.get('step') ?? '');
  if (action === 'photos') return towDispatch.photos.title;
  return entryOf(terms.operations, action) ?? entryOf(terms.actions, action);
}

function partsOf(path: string): string[] {
  const [address = ''] = path.split('?');
  try {
    return address.split('/').map((part) => decodeURIComponent(part));
  } catch {
    return [];
  }
}
