import { VIOLATION_STATES } from '../../../domain/vocabulary';
import { Chip, FreshLine, LinkButton, Paging, SearchForm } from '../../parts/list';
import { Empty } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { addressOf, VIOLATION_ROWS, PATH, type ViolationList } from './model';
import { ViolationTable } from './rows';

interface ViolationListProps {
  readonly viewer: Viewer;
  readonly list: ViolationList;
}

/** The violations: how to find them, how to report one, and the list that keeps itself fresh. */
export function ListPage(props: ViolationListProps) {
  const { viewer } = props;
  const { query } = props.list;
  const messages = viewer.messages.violations;
  return (
    <>
      <div class="head board-head">
        <h1>{viewer.messages.common.violations}</h1>
        <SearchForm
          viewer={viewer}
          action={PATH}
          label={messages.search}
          placeholder={messages.searchFor}
          value={query.search}
          hidden={query.state === null ? [] : [['state', query.state]]}
        />
        {viewer.may('dispatcher') && (
          <a class="button main" href={`${PATH}/new`}>
            {messages.report}
          </a>
        )}
      </div>
      <LiveList {...props} />
    </>
  );
}

/**
 * The part that refreshes itself, also once a minute for the ages. The request lists the shown rows, so that each stays
 * in its place. Its data goes in the body, because addresses may be logged.
 */
export function LiveList({ viewer, list }: ViolationListProps) {
  const { query } = list;
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
      <Chips viewer={viewer} list={list} />
      <Line viewer={viewer} list={list} />
      {list.rows.length > 0 ? (
        <ViolationTable viewer={viewer} rows={list.rows} />
      ) : (
        <Nothing viewer={viewer} list={list} />
      )}
      <Paging
        viewer={viewer}
        first={query.cursor === null ? null : addressOf(query)}
        next={list.nextCursor === null ? null : addressOf({ ...query, cursor: list.nextCursor }, { withCursor: true })}
      />
    </div>
  );
}

/** What the list may be narrowed to, each a link to the list that is. */
function Chips({ viewer, list: { query } }: ViolationListProps) {
  const { common, terms } = viewer.messages;
  return (
    <nav class="board-chips" aria-label={common.filters}>
      <ul class="chips">
        <Chip to={addressOf({ ...query, state: null })} isOn={query.state === null}>
          {viewer.messages.common.all}
        </Chip>
        {VIOLATION_STATES.map((state) => (
          <Chip to={addressOf({ ...query, state: query.state === state ? null : state })} isOn={query.state === state}>
            {terms.violationStates[state]}
          </Chip>
        ))}
      </ul>
      {(query.state !== null || query.search !== null) && (
        <a class="quiet" href={PATH}>
          {viewer.messages.common.clear}
        </a>
      )}
    </nav>
  );
}

/** One line of one height above the list: what is new appears in it without moving a row. */
function Line({ viewer, list }: ViolationListProps) {
  const messages = viewer.messages.violations;
  const count = `${viewer.formats.number(list.newCount)}${list.newCount >= VIOLATION_ROWS ? '+' : ''}`;
  return (
    <div class="list-line" role="status">
      <FreshLine
        fresh={list.newCount > 0 ? viewer.messages.common.fresh({ count }) : null}
        to={addressOf(list.query, { withCursor: true })}
        shown={messages.shown({ count: list.rows.length })}
      />
    </div>
  );
}

/** No violation is shown: because there is none at all, or because none fits. */
function Nothing({ viewer, list: { query, nextCursor } }: ViolationListProps) {
  const { empty } = viewer.messages.violations;
  if (nextCursor !== null) return <Empty title={viewer.messages.common.stretch} hint={empty.stretchHint} />;
  if (query.search !== null) {
    return (
      <>
        <Empty title={viewer.messages.common.noResults({ query: query.search })} hint={empty.searchHint} />
        {query.state !== null && (
          <LinkButton to={addressOf({ ...query, state: null })}>{viewer.messages.common.everywhere}</LinkButton>
        )}
      </>
    );
  }
  if (query.state === null) return <Empty title={empty.none} hint={empty.noneHint} />;
  return (
    <>
      <Empty title={empty.filtered} hint={empty.filteredHint} />
      <LinkButton to={PATH}>{viewer.messages.common.clear}</LinkButton>
    </>
  );
}
