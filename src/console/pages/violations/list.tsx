import type { Child } from 'hono/jsx';
import { VIOLATION_STATES } from '../../../domain/vocabulary';
import { Paging } from '../../parts/paging';
import { Empty } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { addressOf, PAGE_ROWS, PATH, type ViolationsQuery } from './query';
import type { ViolationList } from './read';
import { ViolationTable } from './rows';

export interface ListProps {
  readonly viewer: Viewer;
  readonly query: ViolationsQuery;
  readonly list: ViolationList;
}

/** The violations: how to find them, how to report one, and the list that keeps itself fresh. */
export function ListPage(props: ListProps) {
  const { viewer, query } = props;
  const { violations: words, common } = viewer.words;
  return (
    <>
      <div class="head board-head">
        <h1>{words.title}</h1>
        <search class="board-search">
          <form method="get" action={PATH}>
            {query.state !== null && <input type="hidden" name="state" value={query.state} />}
            <input
              type="search"
              name="q"
              value={query.search ?? ''}
              dir="auto"
              aria-label={words.search}
              placeholder={words.searchFor}
              maxlength={200}
              autocomplete="off"
              spellcheck={false}
              enterkeyhint="search"
              data-search
            />
            <button>{common.search}</button>
          </form>
        </search>
        {viewer.may('dispatcher') && (
          <a class="button main" href={`${PATH}/new`}>
            {words.report}
          </a>
        )}
      </div>
      <LiveList {...props} />
    </>
  );
}

/**
 * Everything that stays fresh: it asks for itself anew, saying which rows it shows, so that each stays where it is; once a
 * minute because of the ages. What is asked goes in the body: an address may be logged.
 */
export function LiveList({ viewer, query, list }: ListProps) {
  const asked = {
    form_token: viewer.formToken,
    list: addressOf(query, { withCursor: true }),
    shown: list.rows.map(({ id }) => id),
    next: list.nextCursor ?? '',
  };
  return (
    <div
      id="violations"
      data-watch="violations"
      hx-post={`${PATH}/live`}
      hx-trigger="changed, every 60s"
      hx-swap="morph:outerHTML"
      hx-vals={JSON.stringify(asked)}
    >
      <Chips viewer={viewer} query={query} />
      <Line viewer={viewer} query={query} list={list} />
      {list.rows.length > 0 ? (
        <ViolationTable viewer={viewer} rows={list.rows} />
      ) : (
        <Nothing viewer={viewer} query={query} list={list} />
      )}
      <Paging
        viewer={viewer}
        label={viewer.words.violations.pages}
        first={query.cursor === null ? null : addressOf(query)}
        next={list.nextCursor === null ? null : addressOf({ ...query, cursor: list.nextCursor }, { withCursor: true })}
      />
    </div>
  );
}

/** What the list may be narrowed to, each a link to the list that is. */
function Chips({ viewer, query }: Pick<ListProps, 'viewer' | 'query'>) {
  const { violations: words, terms } = viewer.words;
  return (
    <nav class="board-chips" aria-label={words.filters}>
      <ul class="chips">
        <Chip to={{ ...query, state: null }} isOn={query.state === null}>
          {words.all}
        </Chip>
        {VIOLATION_STATES.map((state) => (
          <Chip to={{ ...query, state: query.state === state ? null : state }} isOn={query.state === state}>
            {terms.violationStates[state]}
          </Chip>
        ))}
      </ul>
      {(query.state !== null || query.search !== null) && (
        <a class="quiet" href={PATH}>
          {words.clear}
        </a>
      )}
    </nav>
  );
}

function Chip({ to, isOn, children }: { to: ViolationsQuery; isOn: boolean; children: Child }) {
  return (
    <li>
      <a class="chip" href={addressOf(to)} aria-current={isOn ? 'true' : undefined}>
        {children}
      </a>
    </li>
  );
}

/** One line of one height above the list: what is new appears in it without moving a row. */
function Line({ viewer, query, list }: ListProps) {
  const words = viewer.words.violations;
  const count = `${viewer.formats.number(list.newCount)}${list.newCount >= PAGE_ROWS ? '+' : ''}`;
  return (
    <div class="list-line" role="status">
      {list.newCount > 0 ? (
        <a class="button main fresh" href={addressOf(query, { withCursor: true })}>
          {words.fresh(count)}
        </a>
      ) : (
        <span class="muted">{words.shown(list.rows.length)}</span>
      )}
    </div>
  );
}

/** No violation is shown: because there is none at all, or because none fits. */
function Nothing({ viewer, query, list }: ListProps) {
  const { empty, clear } = viewer.words.violations;
  if (list.nextCursor !== null) return <Empty title={empty.stretch} hint={empty.stretchHint} />;
  if (query.search !== null) {
    return (
      <>
        <Empty title={empty.search(query.search)} hint={empty.searchHint} />
        {query.state !== null && <Way to={addressOf({ ...query, state: null })}>{empty.everywhere}</Way>}
      </>
    );
  }
  if (query.state === null) return <Empty title={empty.none} hint={empty.noneHint} />;
  return (
    <>
      <Empty title={empty.filtered} hint={empty.filteredHint} />
      <Way to={PATH}>{clear}</Way>
    </>
  );
}

function Way({ to, children }: { to: string; children: string }) {
  return (
    <p class="centered">
      <a class="button" href={to}>
        {children}
      </a>
    </p>
  );
}
