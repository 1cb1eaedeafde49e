import { hasSecret, hasFewFields } from '../forms';
import { valueUnder } from '../messages';
import { isSafePath } from '../requests';
import type { SignInWays } from '../sessions';
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

/** A form to send again. Its idempotency key ensures that it takes effect once. */
export interface Again {
  /** The address to send it to. */
  readonly path: string;
  readonly form: URLSearchParams;
  /** The token to send with. With another than that of the session the form is offered once more (serve.tsx). */
  readonly formToken: string;
}

/** Fits into `UNSAVED_BYTES_MAX` as a field of another form, which may encode each character as three. */
const KEPT_MAX = 50_000;
/** What the fields of `UnsavedFields` may add to a form. */
export const UNSAVED_BYTES_MAX = 3 * KEPT_MAX;

/** Carries an unsaved form through the sign-in form, as one field. */
export function UnsavedFields({ unsaved }: { unsaved: UnsavedForm }) {
  const kept = fieldsOf(unsaved);
  if (kept === null) return null;
  return (
    <>
      <input type="hidden" name="unsaved_path" value={unsaved.path} />
      <input type="hidden" name="unsaved" value={kept} />
    </>
  );
}

/** The fields of a form that the sign-in form can carry; null for others. */
function fieldsOf({ path, form }: UnsavedForm): string | null {
  if (form === null || !isSafePath(path)) return null;
  // The token of the session that has ended.
  const kept = new URLSearchParams([...form].filter(([name]) => name !== 'form_token')).toString();
  return path.length + kept.length <= KEPT_MAX ? kept : null;
}

/** The unsaved form that a sign-in form carries; null without one. */
export function unsavedIn(signIn: URLSearchParams): UnsavedForm | null {
  const [path, fields] = [signIn.get('unsaved_path'), signIn.get('unsaved')];
  if (path === null || fields === null || !isSafePath(path) || !hasFewFields(fields)) return null;
  const form = new URLSearchParams(fields);
  return hasSecret(form) ? null : { path, form };
}

/**
 * That a form was not saved: which one, and what was entered. The sign-in form carries it (`UnsavedFields`). A sign-in at
 * the identity provider cannot, because it leaves the console: the form waits here for a sign-in in another tab.
 */
export function Unsaved({ viewer, unsaved, ways }: { viewer: Viewer; unsaved: UnsavedForm; ways: SignInWays }) {
  const { problem, sessionOver, sessionOverKept, sessionOverHere, sessionOverOrKey } = viewer.messages.common;
  const again = waitingForm(unsaved, ways);
  const isCarried = ways.keys && fieldsOf(unsaved) !== null;
  const waiting = isCarried ? `${sessionOverHere} ${sessionOverOrKey}` : sessionOverHere;
  return (
    <div class="problem" role="alert">
      <h2>{problem}</h2>
      <p>{again !== null ? waiting : isCarried ? sessionOverKept : sessionOver}</p>
      {again === null ? <UnsavedName viewer={viewer} unsaved={unsaved} /> : <SendAgain viewer={viewer} again={again} />}
      {again === null && unsaved.form && <Entered viewer={viewer} entered={unsaved.form} isOpen />}
    </div>
  );
}

/** The form that waits on the sign-in page for a sign-in in another tab; null if none can. */
export function waitingForm({ path, form }: UnsavedForm, { provider }: SignInWays): Again | null {
  return provider === null || form === null ? null : { path, form, formToken: '' };
}

/** What was entered, and a button that sends it again. */
export function SendAgain({ viewer, again: { path, form, formToken } }: { viewer: Viewer; again: Again }) {
  const { sendAgain } = viewer.messages.common;
  const fields = [...form].filter(([name]) => name !== 'form_token');
  return (
    <form method="post" action={path} class="form" id="send-again">
      <input type="hidden" name="form_token" value={formToken} />
      {fields.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <UnsavedName viewer={viewer} unsaved={{ path, form }} />
      <Entered viewer={viewer} entered={form} isOpen />
      <p class="form-end">
        <button type="submit" class="main">
          {sendAgain}
        </button>
      </p>
    </form>
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
  const queue = valueUnder(ops.queues.names, subject);
  if (queue !== null && action === 'pause') return ops.queues.pauseOf({ queue });
  if (queue !== null && action === 'resume') return ops.queues.resumeOf({ queue });
  if (action === 'steps') return valueUnder(towDispatch.stepNames, form?.get('step') ?? '');
  if (action === 'photos') return messages.tow.sections.photos;
  return valueUnder(terms.operations, action) ?? valueUnder(terms.actions, action);
}

function partsOf(path: string): string[] {
  const [address = ''] = path.split('?');
  try {
    return address.split('/').map((part) => decodeURIComponent(part));
  } catch {
    return [];
  }
}
