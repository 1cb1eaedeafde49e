import type { TowRules } from '../../../domain/fact-command';
import type { Order } from '../../../contracts/paging';
import { TOW_STATES } from '../../../domain/vocabulary';
import type { Failure } from '../../answers';
import { Paging } from '../../parts/paging';
import { Problem } from '../../parts/problem';
import { Empty } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { ageWords } from './age';
import { CREW_LIST_ID, formOf } from './assign';
import { Chips } from './chips';
import { EmptyBoard } from './empty';
import { addressOf, OPEN_STATES, withSaid, type BoardQuery } from './query';
import { isManyNew, type Board } from './read';
import { TowTable } from './rows';

export interface BoardProps {
  readonly viewer: Viewer;
  readonly query: BoardQuery;
  readonly board: Board;
  readonly rules: TowRules;
  readonly failure: Failure | null;
}

/** The board: how to find tows, and the list that keeps itself fresh. */
export function BoardPage(props: BoardProps) {
  const { viewer, query } = props;
  const { board: words, common } = viewer.words;
  return (
    <>
      <div class="head board-head">
        <h1>{words.title}</h1>
        <SearchForm viewer={viewer} query={query} />
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

/** Why a form had no effect whose row is not on the board any more. */
function LostProblem({ viewer, board, failure }: BoardProps) {
  if (failure === null || board.rows.some(({ ref }) => formOf(ref) === failure.form)) return null;
  return <Problem viewer={viewer} failure={failure} form={failure.form} />;
}

function SearchForm({ viewer, query }: Pick<BoardProps, 'viewer' | 'query'>) {
  const words = viewer.words.board;
  const [, kept = ''] = addressOf(withSaid(query, { search: null })).split('?');
  return (
    <search class="board-search">
      <form method="get" action="/board">
        {[...new URLSearchParams(kept)].map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
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
        <button>{viewer.words.common.search}</button>
      </form>
    </search>
  );
}

/**
 * Everything that stays fresh: it asks for itself anew, saying which rows it shows, so that each stays where it is. What is
 * asked goes in the body: references may be long, and an address may be logged.
 */
export function LiveBoard(props: BoardProps) {
  const { viewer, query, board } = props;
  const here = addressOf(query, { withCursor: true });
  const asked = {
    form_token: viewer.formToken,
    board: here,
    shown: board.rows.map(({ ref }) => ref),
    next: board.nextCursor ?? '',
  };
  return (
    <div
      id="board"
      data-watch="tows"
      data-now={String(viewer.nowMs)}
      data-age-words={ageWords(viewer)}
      hx-post="/board/live"
      hx-trigger="changed"
      hx-swap="morph:outerHTML"
      hx-vals={JSON.stringify(asked)}
    >
      <Chips viewer={viewer} query={query} counts={board.counts} crews={board.crews} />
      <ListLine viewer={viewer} query={query} board={board} />
      <List {...props} here={here} />
      <Paging
        viewer={viewer}
        label={viewer.words.board.pages}
        first={query.cursor === null ? null : addressOf(query)}
        next={
          board.nextCursor === null ? null : addressOf({ ...query, cursor: board.nextCursor }, { withCursor: true })
        }
      />
      <datalist id={CREW_LIST_ID}>
        {board.crews.map((crew) => (
          <option value={crew} />
        ))}
      </datalist>
    </div>
  );
}

/** One line of one height above the list: what is new appears in it without moving a row. */
function ListLine({ viewer, query, board }: Pick<BoardProps, 'viewer' | 'query' | 'board'>) {
  const words = viewer.words.board;
  const orders: readonly (readonly [Order | null, string])[] = [
    ...(query.search === null ? [] : [[null, words.orders.best] as const]),
    ['newest', words.orders.newest],
    ['oldest', words.orders.oldest],
  ];
  const chosen = query.order ?? (query.search === null ? 'newest' : null);
  const count = `${viewer.formats.number(board.newCount)}${isManyNew(board) ? '+' : ''}`;
  return (
    <div class="list-line">
      <div role="status">
        {board.newCount > 0 ? (
          <a class="button main fresh" href={addressOf(query, { withCursor: true })}>
            {words.fresh(count)}
          </a>
        ) : (
          <span class="muted">{shownWords({ viewer, query, board })}</span>
        )}
      </div>
      <ul class="orders" aria-label={words.order}>
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
function shownWords({ viewer, query, board }: Pick<BoardProps, 'viewer' | 'query' | 'board'>): string {
  const words = viewer.words.board;
  const { byState } = board.counts;
  const isNarrower = query.attention || query.unsent || query.overdue || query.crew !== null || query.search !== null;
  const count = board.rows.length;
  if (isNarrower) return words.shown(count);
  const states = query.states === 'open' ? OPEN_STATES : query.states === 'all' ? TOW_STATES : query.states;
  const total = states.reduce((sum, state) => sum + byState[state], 0);
  return total > count ? words.shownOf(viewer.formats.number(count), viewer.formats.number(total)) : words.shown(count);
}

function List({ viewer, query, board, rules, failure, here }: BoardProps & { readonly here: string }) {
  if (board.rows.length > 0) {
    return <TowTable tools={{ viewer, back: here, failure, rules }} rows={board.rows} />;
  }
  if (board.nextCursor !== null) {
    const { empty } = viewer.words.board;
    return <Empty title={empty.stretch} hint={empty.stretchHint} />;
  }
  return <EmptyBoard viewer={viewer} query={query} counts={board.counts} />;
}
