import type { Child } from 'hono/jsx';
import type { Role } from '../../domain/vocabulary';
import { page, type Shown } from '../answers';
import { Entered } from '../parts/entered';
import type { Viewer } from '../viewer';

/** A form that was not taken, to be sent once more as it was: its key sees to it that it has its effect once. */
export interface Again {
  readonly form: URLSearchParams;
  /** What the form is sent with this time. */
  readonly formToken: string;
}

/** No address of ours, or none at all (400). */
export function missingPage(viewer: Viewer, httpStatus: 400 | 404): Shown {
  const { common } = viewer.words;
  return errorPage(common.notFound, httpStatus, [common.notFoundHint, <a href="/board">{common.board}</a>]);
}

export function forbiddenPage(viewer: Viewer, role: Role): Shown {
  const { common, terms } = viewer.words;
  return errorPage(common.errors.forbidden, 403, [
    `${common.notAllowed(terms.roles[role])} ${common.errors.forbiddenHint}`,
    <a href="/board">{common.board}</a>,
  ]);
}

/**
 * A form that is not looked at: of another session or another site (403), too large (413), or not to be read. `back`: the
 * page it stood on.
 */
export function refusedPage(
  viewer: Viewer,
  { httpStatus, back, again = null }: { httpStatus: number; back: string; again?: Again | null },
): Shown {
  const { formTooOld, formTooLarge, formUnreadable, errors, backToPage } = viewer.words.common;
  const text = new Map([
    [403, again ? errors.signedInAnew : formTooOld],
    [413, formTooLarge],
  ]).get(httpStatus);
  return errorPage(httpStatus === 413 ? errors.tooLarge : errors.refused, httpStatus, [
    text ?? formUnreadable,
    <a href={back}>{backToPage}</a>,
    again && <SendAgain viewer={viewer} again={again} />,
  ]);
}

/** The store cannot be reached: nothing is certain. */
export function unavailablePage(viewer: Viewer, { back, again = null }: { back: string; again?: Again | null }): Shown {
  const { common } = viewer.words;
  return errorPage(common.errors.unavailable, 503, [
    `${common.unavailable} ${common.unavailableHint}`,
    <a href={back}>{back === viewer.here ? common.errors.tryAgain : common.backToPage}</a>,
    again && <SendAgain viewer={viewer} again={again} />,
  ]);
}

function errorPage(title: string, httpStatus: number, [text, link, form = null]: readonly [string, Child, Child?]) {
  return page(
    title,
    <div class="narrow">
      <h1>{title}</h1>
      <p>{text}</p>
      {form}
      <p>{link}</p>
    </div>,
    { httpStatus },
  );
}

function SendAgain({ viewer, again: { form, formToken } }: { viewer: Viewer; again: Again }) {
  const { sendAgain } = viewer.words.common;
  const fields = [...form].filter(([name]) => name !== 'form_token');
  return (
    <form method="post" action={viewer.here} class="form" id="send-again">
      <input type="hidden" name="form_token" value={formToken} />
      {fields.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <Entered viewer={viewer} entered={form} isOpen />
      <p class="form-end">
        <button type="submit" class="main">
          {sendAgain}
        </button>
      </p>
    </form>
  );
}
