import type { SortOrder } from '../../../contracts/paging';
import { TOW_STATES } from '../../../domain/vocabulary';
import type { FormFailure } from '../../page';
import { LinkButton, Orders, SearchForm } from '../../parts/list';
import { LiveList, NoResults } from '../../parts/live-list';
import { Problem } from '../../parts/problem';
import { Empty } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { ageUnits, TowTable } from './rows';
import { CREW_LIST_ID, formOf, hasForm } from './assign';
import { Chips } from './chips';
import { addressOf, OPEN_STATES, withChanges, type BoardQuery, type BoardContent, isNarrowed } from './model';
import type { TowCounts } from '../../../contracts/operator';

interface BoardProps {
  readonly viewer: Viewer;
  readonly board: BoardContent;
  readonly failure: FormFailure | null;
}

/** The board: how to find tows, and the list that keeps itself fresh. */
export function BoardPage(props: BoardProps) {
  const { viewer } = props;
  const { query } = props.board;
  const { board: messages, common } = viewer.messages;
  const [, kept = ''] = addressOf(withChanges(query, { search: null })).split('?');
  return (
    <>
      <div class="head board-head">
        <h1>{common.board}</h1>
        <SearchForm
          viewer={viewer}
          action="/board"
          label={messages.search}
          placeholder={messages.searchFor}
          value={query.search}
          hidden={[...new URLSearchParams(kept)]}
        />
        {/* Only a script can pause, and only a script shows it. */}
        <button type="button" class="quiet" data-live-pause aria-pressed="false" hidden>
          {common.pause}
        </button>
      </div>
      <LostProblem {...props} />
      <LiveBoard {...props} />
    </>
  );
}

/** The reason of a refusal whose form is not on the board any more. */
function LostProblem({ viewer, board, failure }: BoardProps) {
  if (failure === null) return null;
  const isShown = board.rows.some(
    ({ id, record }) => formOf(id) === failure.form && record !== null && hasForm(viewer, record),
  );
  return isShown ? null : <Problem viewer={viewer} failure={failure} form={failure.form} showsEntered />;
}

/** The part that refreshes itself. */
export function LiveBoard(props: BoardProps) {
  const { viewer, board } = props;
  const { query } = board;
  const here = addressOf(query, { withCursor: true });
  return (
    <LiveList
      viewer={viewer}
      id="board"
      watch="tows"
      trigger="changed"
      list={board}
      first={query.cursor === null ? null : addressOf(query)}
      here={here}
      at={(cursor) => addressOf({ ...query, cursor }, { withCursor: true })}
      shownText={shownText({ viewer, board })}
      attributes={{ 'data-now': String(viewer.nowMs), 'data-age-units': ageUnits(viewer) }}
      filters={<Chips viewer={viewer} query={query} counts={board.counts} />}
      orders={<BoardOrders viewer={viewer} query={query} />}
    >
      <List {...props} here={here} />
      <datalist id={CREW_LIST_ID}>
        {board.counts.crews.map((crew) => (
          <option value={crew} />
        ))}
      </datalist>
    </LiveList>
  );
}

function BoardOrders({ viewer, query }: { viewer: Viewer; query: BoardQuery }) {
  const messages = viewer.messages.board;
  const orders: readonly (readonly [SortOrder | null, string])[] = [
    ...(query.search === null ? [] : [[null, messages.orders.best] as const]),
    ['newest', viewer.messages.common.orders.newest],
    ['oldest', viewer.messages.common.orders.oldest],
  ];
  return (
    <Orders
      viewer={viewer}
      chosen={query.order ?? (query.search === null ? 'newest' : null)}
      orders={orders}
      at={(order) => addressOf({ ...query, order })}
    />
  );
}

/** How many rows there are, and of how many where that is counted: of states alone. */
function shownText({ viewer, board }: Pick<BoardProps, 'viewer' | 'board'>): string {
  const { query } = board;
  const messages = viewer.messages.board;
  const { by_state: byState } = board.counts;
  const isNarrower = query.attention || query.unsent || query.overdue || query.crew !== null || query.search !== null;
  const count = board.rows.length;
  if (isNarrower) return messages.shown({ count });
  const states = query.states === 'open' ? OPEN_STATES : query.states === 'all' ? TOW_STATES : query.states;
  const total = states.reduce((sum, state) => sum + byState[state], 0);
  return total > count
    ? messages.shownOf({ count: viewer.formats.number(count), total: viewer.formats.number(total) })
    : messages.shown({ count });
}

function List({ viewer, board, failure, here }: BoardProps & { readonly here: string }) {
  if (board.rows.length > 0) {
    return <TowTable tools={{ viewer, back: here, failure }} rows={board.rows} />;
  }
  if (board.nextCursor !== null) {
    const { empty } = viewer.messages.board;
    return <Empty title={viewer.messages.common.stretch} hint={empty.stretchHint} />;
  }
  return <EmptyBoard viewer={viewer} query={board.query} counts={board.counts} />;
}

/** Where the service posts its tow requests (docs/service-api.md#webhooks), at the address of the receiver. */
const REQUEST_PATH = 'POST /tow-request';

/** No tow is shown: because there is none at all, because none is open, or because none fits. */
function EmptyBoard({ viewer, query, counts }: { viewer: Viewer; query: BoardQuery; counts: TowCounts }) {
  const { empty } = viewer.messages.board;
  const isNew = TOW_STATES.every((state) => counts.by_state[state] === 0);
  if (isNew && query.search === null) {
    return (
      <div class="empty">
        <p class="empty-title">{empty.none}</p>
        <p class="muted">{empty.noneHint.rich({ address: <code dir="ltr">{REQUEST_PATH}</code> })}</p>
      </div>
    );
  }
  if (query.search !== null) {
    const everywhere = query.states === 'all' ? null : addressOf({ ...query, states: 'all' });
    return <NoResults viewer={viewer} search={query.search} hint={empty.searchHint} everywhere={everywhere} />;
  }
  if (!isNarrowed(query)) return <Empty title={empty.open} hint={empty.openHint} />;
  return (
    <>
      <Empty title={empty.filtered} hint={empty.filteredHint} />
      <LinkButton to="/board">{viewer.messages.common.clear}</LinkButton>
    </>
  );
}
