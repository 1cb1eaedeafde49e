import type { SortOrder } from '../../../contracts/paging';
import { TOW_STATES } from '../../../domain/vocabulary';
import type { FormFailure } from '../../page';
import { FreshLine, LinkButton, Paging, SearchForm } from '../../parts/list';
import { Problem } from '../../parts/problem';
import { Empty } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { ageUnits, TowTable } from './rows';
import { CREW_LIST_ID, formOf, hasForm } from './assign';
import { Chips } from './chips';
import {
  addressOf,
  OPEN_STATES,
  withChanges,
  type BoardQuery,
  isManyNew,
  type BoardContent,
  isNarrowed,
} from './model';
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

/**
 * The part that refreshes itself. The request lists the shown rows, so that each stays in its place. Its data goes in
 * the body, because addresses may be logged and references may be long.
 */
export function LiveBoard(props: BoardProps) {
  const { viewer, board } = props;
  const { query } = board;
  const here = addressOf(query, { withCursor: true });
  const asked = {
    form_token: viewer.formToken,
    board: here,
    shown: board.rows.map(({ id }) => id),
    next: board.nextCursor ?? '',
  };
  return (
    <div
      id="board"
      data-watch="tows"
      data-now={String(viewer.nowMs)}
      data-age-units={ageUnits(viewer)}
      hx-post="/board/live"
      hx-trigger="changed"
      hx-swap="morph:outerHTML"
      hx-vals={JSON.stringify(asked)}
    >
      <Chips viewer={viewer} query={query} counts={board.counts} />
      <ListLine viewer={viewer} board={board} />
      <List {...props} here={here} />
      <Paging
        viewer={viewer}
        first={query.cursor === null ? null : addressOf(query)}
        next={
          board.nextCursor === null ? null : addressOf({ ...query, cursor: board.nextCursor }, { withCursor: true })
        }
      />
      <datalist id={CREW_LIST_ID}>
        {board.counts.crews.map((crew) => (
          <option value={crew} />
        ))}
      </datalist>
    </div>
  );
}

/** One line of one height above the list: what is new appears in it without moving a row. */
function ListLine({ viewer, board }: Pick<BoardProps, 'viewer' | 'board'>) {
  const { query } = board;
  const messages = viewer.messages.board;
  const orders: readonly (readonly [SortOrder | null, string])[] = [
    ...(query.search === null ? [] : [[null, messages.orders.best] as const]),
    ['newest', messages.orders.newest],
    ['oldest', messages.orders.oldest],
  ];
  const chosen = query.order ?? (query.search === null ? 'newest' : null);
  const count = `${viewer.formats.number(board.newCount)}${isManyNew(board) ? '+' : ''}`;
  return (
    <div class="list-line">
      <div role="status">
        <FreshLine
          fresh={board.newCount > 0 ? viewer.messages.common.fresh({ count }) : null}
          to={addressOf(query, { withCursor: true })}
          shown={shownText({ viewer, board })}
        />
      </div>
      <ul class="orders" aria-label={viewer.messages.common.order}>
        {orders.map(([order, label]) => (
          <li>
            <a class="quiet" href={addressOf({ ...query, order })} aria-current={order === chosen ? 'true' : undefined}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </div>
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
    return (
      <>
        <Empty title={viewer.messages.common.noResults({ query: query.search })} hint={empty.searchHint} />
        {query.states !== 'all' && (
          <LinkButton to={addressOf({ ...query, states: 'all' })}>{viewer.messages.common.everywhere}</LinkButton>
        )}
      </>
    );
  }
  if (!isNarrowed(query)) return <Empty title={empty.open} hint={empty.openHint} />;
  return (
    <>
      <Empty title={empty.filtered} hint={empty.filteredHint} />
      <LinkButton to="/board">{viewer.messages.common.clear}</LinkButton>
    </>
  );
}
