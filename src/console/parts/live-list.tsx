import type { Child } from 'hono/jsx';
import type { Viewer } from '../viewer';
import { LinkButton, Paging } from './list';
import { Empty, Ref } from './text';

/** A list that refreshes itself while it is open: the board, and the violations. */

/** Rows of a page of such a list. */
export const LIST_ROWS = 50;
/** The longest search, as the operator API takes it. */
export const SEARCH_MAX = 200;

/** A row of an open page. */
export interface ShownRow<T> {
  readonly id: string;
  /** Null once it left for the archive. */
  readonly record: T | null;
  /** False when it no longer matches the filter. */
  readonly matches: boolean;
}

/** What such a list shows. */
export interface LiveListContent<T> {
  readonly rows: readonly ShownRow<T>[];
  /** Records that appeared between the shown rows since the page was loaded; `LIST_ROWS` means that many or more. */
  readonly newCount: number;
  readonly nextCursor: string | null;
}

/** An open page, as its request for a refresh describes it. */
interface OpenPage {
  readonly address: string;
  /** The ids of the shown rows. */
  readonly shown: readonly string[];
  /** That of the open page; null if it is the last one. */
  readonly nextCursor: string | null;
}

export function openPageIn(form: URLSearchParams): OpenPage {
  const next = form.get('next') ?? '';
  return {
    address: form.get('list') ?? '',
    shown: form.getAll('shown').slice(0, LIST_ROWS),
    nextCursor: next === '' ? null : next,
  };
}

/**
 * The present state of the rows of an open page, in their present order, and the number of records that appeared
 * between them. `now`: the page as it would be loaded.
 */
export async function refreshed<T, L extends LiveListContent<T>>(
  now: L & LiveListContent<T>,
  { shown, nextCursor }: OpenPage,
  { read, matches }: { read: (id: string) => Promise<T | null>; matches: (record: T) => boolean },
): Promise<L> {
  // Without a shown row no position has to be kept.
  if (shown.length === 0) return now;
  const rows = shown.map(async (id): Promise<ShownRow<T>> => {
    const listed = now.rows.find((row) => row.id === id);
    if (listed) return listed;
    const record = await read(id);
    return { id, record, matches: record !== null && matches(record) };
  });
  const newCount = countNewRows(now, { shown, isLast: nextCursor === null });
  return { ...now, rows: await Promise.all(rows), newCount, nextCursor };
}

/** Rows after the last shown one belong to the next page and are not counted, unless this is the last page. */
function countNewRows(
  { rows }: LiveListContent<unknown>,
  { shown, isLast }: { shown: readonly string[]; isLast: boolean },
): number {
  const listed = rows.map(({ id }) => id);
  const isShown = new Set(shown);
  const end = listed.findLastIndex((name) => isShown.has(name));
  const compared = isLast || end === -1 ? listed : listed.slice(0, end);
  return compared.filter((name) => !isShown.has(name)).length;
}

interface LiveListProps {
  readonly viewer: Viewer;
  readonly id: string;
  /** The topic of the events that refresh it. */
  readonly watch: string;
  readonly trigger: string;
  readonly list: LiveListContent<unknown>;
  /** The address of the first page; null on it. */
  readonly first: string | null;
  /** The address of the open page, and that with another cursor. */
  readonly here: string;
  readonly at: (cursor: string) => string;
  /** The number of the shown rows. */
  readonly shownText: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly filters: Child;
  /** At the end of the line above the list. */
  readonly orders?: Child;
  /** The rows, or why there are none. */
  readonly children: Child;
}

/**
 * The part that refreshes itself. The request lists the shown rows, so that each stays in its place. Its data goes in
 * the body, because addresses may be logged and references may be long.
 */
export function LiveList(props: LiveListProps) {
  const { viewer, id, list, here, at, first } = props;
  const { nextCursor } = list;
  const asked = {
    form_token: viewer.formToken,
    list: here,
    shown: list.rows.map((row) => row.id),
    next: nextCursor ?? '',
  };
  return (
    <div
      id={id}
      data-watch={props.watch}
      {...props.attributes}
      hx-post={`/${id}/live`}
      hx-trigger={props.trigger}
      hx-swap="morph:outerHTML"
      hx-vals={JSON.stringify(asked)}
    >
      {props.filters}
      <div class="list-line">
        <div role="status">
          <FreshLine viewer={viewer} list={list} to={here} shown={props.shownText} />
        </div>
        {props.orders}
      </div>
      {props.children}
      <Paging viewer={viewer} first={first} next={nextCursor === null ? null : at(nextCursor)} />
    </div>
  );
}

/** A link that loads the list again with its new rows; the number of shown rows without new ones. */
function FreshLine(props: { viewer: Viewer; list: LiveListContent<unknown>; to: string; shown: string }) {
  const { viewer, to, shown } = props;
  const { newCount } = props.list;
  if (newCount === 0) return <span class="muted">{shown}</span>;
  const count = `${viewer.formats.number(newCount)}${newCount >= LIST_ROWS ? '+' : ''}`;
  return (
    <a class="button main fresh" href={to}>
      {viewer.messages.common.fresh({ count })}
    </a>
  );
}

/** A search without results. `everywhere`: the address of the search in all states; null if it is one already. */
export function NoResults(props: { viewer: Viewer; search: string; hint: string; everywhere: string | null }) {
  const { common } = props.viewer.messages;
  return (
    <>
      <Empty title={common.noResults({ query: props.search })} hint={props.hint} />
      {props.everywhere !== null && <LinkButton to={props.everywhere}>{common.everywhere}</LinkButton>}
    </>
  );
}

/** A row that left for the archive while it was shown keeps its place. */
export function GoneRow(props: { viewer: Viewer; rowId: string; name: string; columns: number }) {
  return (
    <tr role="row" id={props.rowId} class="tow-row left">
      <th scope="row" role="rowheader">
        <Ref>{props.name}</Ref>
      </th>
      <td role="cell" colspan={props.columns - 1}>
        {props.viewer.messages.common.archived}
      </td>
    </tr>
  );
}
