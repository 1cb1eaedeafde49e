import type { Child } from 'hono/jsx';
import type { Role } from '../../domain/vocabulary';
import { page, type MissingRecord, type PageResult } from '../page';
import { PAGES } from '../page-table';
import { Ref } from './text';
import { SendAgain, type Again } from './unsaved';
import type { Viewer } from '../viewer';

/** Unknown address (404), also of a record, or an unreadable one (400). */
export function missingPage(viewer: Viewer, httpStatus: 400 | 404, record: MissingRecord | null = null): PageResult {
  const { common, deliveries, differences } = viewer.messages;
  if (record !== null) {
    const { missing } = common;
    const lists = {
      violation: [missing.violation, PAGES.violations.path, common.violations],
      delivery: [missing.delivery, PAGES.deliveries.path, deliveries.title],
      difference: [missing.difference, PAGES.service.path, differences.title],
    } as const;
    const [title, path, label] = lists[record.kind];
    const text = (
      <>
        {missing.text.rich({ id: <Ref>{record.id}</Ref> })} {common.notFoundHint}
      </>
    );
    return errorPage(title, httpStatus, [text, <a href={path}>{label}</a>]);
  }
  return errorPage(common.notFound, httpStatus, [common.notFoundHint, <a href="/board">{common.board}</a>]);
}

export function forbiddenPage(viewer: Viewer, role: Role): PageResult {
  const { common, terms } = viewer.messages;
  return errorPage(common.errors.forbidden, 403, [
    `${common.notAllowed({ role: terms.roles[role] })} ${common.errors.forbiddenHint}`,
    <a href="/board">{common.board}</a>,
  ]);
}

/** A rejected form: from another session or site (403), too large (413), one too many (429), or unreadable. `back`: its page. */
export function refusedPage(
  viewer: Viewer,
  { httpStatus, back, again = null }: { httpStatus: number; back: string; again?: Again | null },
): PageResult {
  const { formTooOld, formTooLarge, formsTooMany, formUnreadable, errors, backToPage } = viewer.messages.common;
  const text = new Map([
    [403, again ? errors.signedInAnew : formTooOld],
    [413, formTooLarge],
    [429, formsTooMany],
  ]).get(httpStatus);
  return errorPage(httpStatus === 413 ? errors.tooLarge : errors.refused, httpStatus, [
    text ?? formUnreadable,
    <a href={back}>{backToPage}</a>,
    again && <SendAgain viewer={viewer} again={again} />,
  ]);
}

/** After signing in: a form that was sent without a session. `back`: its page. */
export function unsavedPage(viewer: Viewer, { back, again }: { back: string; again: Again }): PageResult {
  const { problem, errors, backToPage } = viewer.messages.common;
  return errorPage(problem, 200, [
    errors.signedInAnew,
    <a href={back}>{backToPage}</a>,
    <SendAgain viewer={viewer} again={again} />,
  ]);
}

/** Redis is unreachable, so the outcome is unknown. */
export function unavailablePage(
  viewer: Viewer,
  { back, again = null }: { back: string; again?: Again | null },
): PageResult {
  const { common } = viewer.messages;
  return errorPage(common.errors.unavailable, 503, [
    `${common.unavailable} ${common.unavailableHint}`,
    <a href={back}>{back === viewer.here ? common.errors.tryAgain : common.backToPage}</a>,
    again && <SendAgain viewer={viewer} again={again} />,
  ]);
}

function errorPage(title: string, httpStatus: number, [text, link, form = null]: readonly [Child, Child, Child?]) {
  return page(
    title,
    <div class="narrow">
      <h1>{title}</h1>
      <p>{text}</p>
      {form}
      <p>{link}</p>
    </div>,
    { httpStatus, isShownOnce: form !== null },
  );
}
