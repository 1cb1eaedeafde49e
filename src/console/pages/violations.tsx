import { page, part, type Pages, type PageTools } from '../page';
import { PAGES, violationPath } from '../page-table';
import { VIOLATION_STATES } from '../../domain/vocabulary';
import { Chip, LinkButton, SearchForm, Cell } from '../parts/list';
import {
  LiveList,
  NoResults,
  GoneRow,
  type ShownRow,
  LIST_ROWS,
  openPageIn,
  refreshed,
  SEARCH_MAX,
  type LiveListContent,
} from '../parts/live-list';
import { Empty, Age, Plate, Ref } from '../parts/text';
import { type Viewer, oneOf } from '../viewer';
import { isSettled } from '../../domain/outbox/outbox';
import { ShortErrorText } from '../parts/error-text';
import { ViolationState } from '../parts/states';
import type { ViolationView } from '../../contracts/violation/violations';
import { ROUTES } from '../../contracts/operator-routes';
import type { Actor } from '../../domain/ops/audit';
import type { OperatorApi } from '../../workflow/operator-port';
import { queryOfPath } from '../requests';
import { readList, readRecord } from '../api-calls';

/** Violations: the list, reporting one, and the page of each. */
export function serveViolations(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  pages.get(PAGES.violations.path, PAGES.violations.role, async ({ viewer, actor, query }) => {
    const list = await readViolations(api, actor, readQuery(query));
    const assets = ['board.js', 'relative-times.js'];
    return page(viewer.messages.common.violations, <ListPage viewer={viewer} list={list} />, { assets });
  });
  pages.post(`${PATH}/live`, 'viewer', async ({ viewer, actor, form }) => {
    const list = await refreshViolations(api, actor, form);
    return part(<LiveViolations viewer={viewer} list={list} />);
  });
}

interface ViolationListProps {
  readonly viewer: Viewer;
  readonly list: ViolationList;
}

/** The violations: how to find them, how to report one, and the list that keeps itself fresh. */
function ListPage(props: ViolationListProps) {
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
      <LiveViolations {...props} />
    </>
  );
}

/** The part that refreshes itself, also once a minute for the ages. */
function LiveViolations({ viewer, list }: ViolationListProps) {
  const { query } = list;
  return (
    <LiveList
      viewer={viewer}
      id="violations"
      watch="violations"
      trigger="changed, every 60s"
      list={list}
      first={query.cursor === null ? null : addressOf(query)}
      here={addressOf(query, { withCursor: true })}
      at={(cursor) => addressOf({ ...query, cursor }, { withCursor: true })}
      shownText={viewer.messages.violations.shown({ count: list.rows.length })}
      filters={<Chips viewer={viewer} list={list} />}
    >
      {list.rows.length > 0 ? (
        <ViolationTable viewer={viewer} rows={list.rows} />
      ) : (
        <Nothing viewer={viewer} list={list} />
      )}
    </LiveList>
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

/** No violation is shown: because there is none at all, or because none fits. */
function Nothing({ viewer, list: { query, nextCursor } }: ViolationListProps) {
  const { empty } = viewer.messages.violations;
  if (nextCursor !== null) return <Empty title={viewer.messages.common.stretch} hint={empty.stretchHint} />;
  if (query.search !== null) {
    const everywhere = query.state === null ? null : addressOf({ ...query, state: null });
    return <NoResults viewer={viewer} search={query.search} hint={empty.searchHint} everywhere={everywhere} />;
  }
  if (query.state === null) return <Empty title={empty.none} hint={empty.noneHint} />;
  return (
    <>
      <Empty title={empty.filtered} hint={empty.filteredHint} />
      <LinkButton to={PATH}>{viewer.messages.common.clear}</LinkButton>
    </>
  );
}

/**
 * The violations: a table on a desk, cards on a phone, from the same elements. Their roles are written down, since a table
 * that is laid out as cards would no longer be read out as one.
 */
function ViolationTable({ viewer, rows }: { viewer: Viewer; rows: readonly ShownRow<ViolationView>[] }) {
  const { heads, table } = viewer.messages.violations;
  return (
    <table class="tows violations" role="table">
      <caption class="visually-hidden">{table}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {[
            viewer.messages.terms.operations.violation,
            viewer.messages.terms.plate,
            heads.type,
            viewer.messages.terms.zone,
            viewer.messages.terms.state,
            heads.tows,
            heads.age,
          ]
            .filter((head) => head !== viewer.messages.terms.zone || !viewer.isInField)
            .map((head) => (
              <th scope="col" role="columnheader">
                {head}
              </th>
            ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map(({ id, record, matches }) =>
          record === null ? (
            <GoneRow viewer={viewer} rowId={rowId(id)} name={id} columns={viewer.isInField ? 6 : 7} />
          ) : (
            <Row viewer={viewer} record={record} matches={matches} />
          ),
        )}
      </tbody>
    </table>
  );
}

function Row({ viewer, record, matches }: { viewer: Viewer; record: ViolationView; matches: boolean }) {
  const { form, violation_reference_id: reference, towing_reference_ids: tows } = record;
  const messages = viewer.messages.violations;
  return (
    <tr role="row" id={rowId(record.id)} class={matches ? 'tow-row' : 'tow-row left'}>
      <th scope="row" role="rowheader">
        <a href={violationPath(record.id)} data-row-link>
          <Ref>{reference ?? record.id}</Ref>
        </a>
        {reference === null && <span class="under">{messages.noReference}</span>}
        {reference !== null && !viewer.isInField && (
          <span class="under">
            <Ref>{record.metadata_id}</Ref>
          </span>
        )}
        {!matches && <span class="under">{viewer.messages.common.left}</span>}
      </th>
      <Cell name="plate-cell">
        <Plate plate={form.plateNumber} />
      </Cell>
      <Cell name="type">
        {form.violationType === undefined ? '' : viewer.messages.terms.violationTypes[form.violationType]}
      </Cell>
      {!viewer.isInField && (
        <Cell name="zone-cell">
          {form.zoneId !== undefined && (
            <span class="zone" dir="ltr" title={form.zoneId}>
              <Ref>{form.zoneId}</Ref>
            </span>
          )}
        </Cell>
      )}
      <Cell name="state">
        <ViolationState viewer={viewer} status={record} />
        <ServiceMessage viewer={viewer} record={record} />
      </Cell>
      <Cell name="its-tows">
        {tows.length === 0 ? (
          <span class="muted">{messages.noTows}</span>
        ) : (
          tows.map((ref) => (
            <a class="its-tow" href={`/tows/${encodeURIComponent(ref)}`}>
              <Ref>{ref}</Ref>
            </a>
          ))
        )}
      </Cell>
      <Cell name="age">
        <Age viewer={viewer} since={record.created_at} />
      </Cell>
    </tr>
  );
}

/** What the service, or the wire, said last, of one that is not settled. */
function ServiceMessage({ viewer, record }: { viewer: Viewer; record: ViolationView }) {
  const { state, last_error: error } = record;
  if (error === null || isSettled(state)) return null;
  return (
    <p class={state === 'pending' ? 'waits' : 'waits decide'}>
      <ShortErrorText viewer={viewer} error={error} />
    </p>
  );
}

function rowId(id: string): string {
  return `violation-${encodeURIComponent(id)}`;
}

/** What the list shows, as its address says it. The same address shows the same list to everybody. */
interface ViolationsQuery {
  readonly state: ViolationView['state'] | null;
  readonly search: string | null;
  readonly cursor: string | null;
}

const PATH = '/violations';

/** Reads the address of a list; what it does not know counts as not said. */
function readQuery(given: URLSearchParams): ViolationsQuery {
  const search = (given.get('q') ?? '').trim().slice(0, SEARCH_MAX);
  return {
    state: oneOf(VIOLATION_STATES, given.get('state') ?? undefined),
    search: search === '' ? null : search,
    cursor: given.get('cursor'),
  };
}

/** The address of a list. Omits the cursor unless `withCursor`. */
function addressOf(query: ViolationsQuery, { withCursor = false }: { withCursor?: boolean } = {}): string {
  const { state, search, cursor } = query;
  const params = new URLSearchParams();
  if (state !== null) params.set('state', state);
  if (search !== null) params.set('q', search);
  if (withCursor && cursor !== null) params.set('cursor', cursor);
  return params.size === 0 ? PATH : `${PATH}?${params.toString()}`;
}

/** The list that an address of ours shows; the plain one for any other address. */
function queryOf(address: string): ViolationsQuery {
  return readQuery(queryOfPath(PATH, address));
}

/** What a list shows. */
interface ViolationList extends LiveListContent<ViolationView> {
  readonly query: ViolationsQuery;
}

/** A page of the list as it is now. */
async function readViolations(api: OperatorApi, actor: Actor, asked: ViolationsQuery): Promise<ViolationList> {
  const filters = { state: asked.state, q: asked.search, limit: String(LIST_ROWS) };
  const { list, cursor } = await readList(api, ROUTES.listViolations, { actor, filters, cursor: asked.cursor });
  const rows = list.items.map((record) => ({ id: record.id, record, matches: true }));
  return { query: { ...asked, cursor }, rows, newCount: 0, nextCursor: list.next_cursor };
}

/** The open list of a form as it is now. */
async function refreshViolations(api: OperatorApi, actor: Actor, form: URLSearchParams): Promise<ViolationList> {
  const open = openPageIn(form);
  const now = await readViolations(api, actor, queryOf(open.address));
  const { state } = now.query;
  return refreshed(now, open, {
    read: (id) => readRecord(api, ROUTES.readViolation, { actor, params: { violation_id: id } }),
    matches: (record) => state === null || record.state === state,
  });
}
