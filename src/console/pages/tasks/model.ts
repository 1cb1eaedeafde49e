import type { TaskCounts, TaskView } from '../../../contracts/operator';
import { ROUTES } from '../../../contracts/operator-routes';
import { TASK_RUN_ACTIONS } from '../../../contracts/ops/runs';
import type { Actor } from '../../../domain/ops/audit';
import { ENTRY_KINDS, type EntryKind } from '../../../domain/vocabulary';
import { SORT_ORDERS, type SortOrder } from '../../../contracts/paging';
import { TASK_TYPES, type TaskType } from '../../../domain/ops/tasks';
import { sha256Hex } from '../../../platform/hash';
import { isEmptyFilter, type TaskFilter } from '../../../workflow/list-port';
import type { OperatorApi } from '../../../workflow/operator-port';
import { readList, readRecord, readRoute } from '../../api-calls';
import { queryOfPath } from '../../requests';
import { oneOf } from '../../viewer';
import type { Task } from '../../../contracts/outbox/records';
import { questionOf } from '../../../workflow/outbox/decision-call';

/** The query of the task list, as in its address. */
export interface TaskQuery {
  readonly type: TaskType | null;
  /** The report kind or operation. */
  readonly kind: EntryKind | null;
  readonly tow: string | null;
  readonly order: SortOrder;
  readonly cursor: string | null;
}

const PATH = '/tasks';
export const TASK_ROWS = 25;
/** The limit of the operator API. */
const TOW_MAX = 500;

export const EVERYTHING: TaskQuery = { type: null, kind: null, tow: null, order: 'oldest', cursor: null };

/** Parses a query; ignores unknown values. */
export function readQuery(given: URLSearchParams): TaskQuery {
  const params = (name: string) => given.get(name) ?? undefined;
  const tow = (params('tow') ?? '').trim().slice(0, TOW_MAX);
  return {
    type: oneOf(TASK_TYPES, params('type')),
    kind: oneOf(ENTRY_KINDS, params('kind')),
    tow: tow === '' ? null : tow,
    order: oneOf(SORT_ORDERS, params('order')) ?? 'oldest',
    cursor: given.get('cursor'),
  };
}

/** Builds the address of a list. Default values are omitted. */
export function addressOf({ type, kind, tow, order, cursor }: TaskQuery): string {
  const params = new URLSearchParams();
  if (type !== null) params.set('type', type);
  if (kind !== null) params.set('kind', kind);
  if (tow !== null) params.set('tow', tow);
  if (order !== 'oldest') params.set('order', order);
  if (cursor !== null) params.set('cursor', cursor);
  return params.size === 0 ? PATH : `${PATH}?${params.toString()}`;
}

/** The query of an address of this page; the default for other addresses. */
export function queryOf(address: string): TaskQuery {
  return readQuery(queryOfPath(PATH, address));
}

/** Changes the query and returns to the first page. */
export function withChanges(query: TaskQuery, changes: Partial<TaskQuery>): TaskQuery {
  return { ...query, cursor: null, ...changes };
}

/** The filter of a bulk decision. */
export function filterOf({ type, kind, tow }: TaskQuery): TaskFilter {
  return { type: type ?? undefined, kind: kind ?? undefined, towingReferenceId: tow ?? undefined };
}

/** True if a filter is set. */
export function isNarrowed(query: TaskQuery): boolean {
  return !isEmptyFilter(filterOf(query));
}

/** A task as the list shows it. */
export interface TaskRow {
  readonly task: TaskView;
  /** The id of its row. */
  readonly anchor: string;
  /** The current question; differs when the task is opened again under its id. */
  readonly question: string;
}

export interface TaskPage {
  readonly query: TaskQuery;
  readonly rows: readonly TaskRow[];
  readonly nextCursor: string | null;
  readonly counts: TaskCounts;
  /** The number of tasks that match the filter; null if not counted. */
  readonly fitting: number | null;
  /** When the newest matching task was opened; '' without one. */
  readonly newestAt: string;
}

/** Reads a page of tasks. */
export async function readTasks(api: OperatorApi, actor: Actor, asked: TaskQuery): Promise<TaskPage> {
  const [{ list, cursor }, newest, counts] = await Promise.all([
    listOf(api, actor, asked),
    listOf(api, actor, { ...asked, order: 'newest', cursor: null }, 1),
    readRoute(api, ROUTES.countTasks, { actor }),
  ]);
  return {
    query: { ...asked, cursor },
    rows: list.items.map((task) => ({ task, anchor: anchorOf(task.id), question: questionOf(task) })),
    nextCursor: list.next_cursor,
    counts,
    fitting: fittingIn(counts, asked),
    newestAt: newest.list.items[0]?.opened_at ?? '',
  };
}

function listOf(api: OperatorApi, actor: Actor, { type, kind, tow, order, cursor }: TaskQuery, limit = TASK_ROWS) {
  const filters = { type, kind, towing_reference_id: tow, order, limit: String(limit) };
  return readList(api, ROUTES.listTasks, { actor, filters, cursor });
}

/** The number of matching tasks; null for a tow, which is not counted. */
export function fittingIn({ total, types }: TaskCounts, { type, kind, tow }: TaskQuery): number | null {
  if (tow !== null) return null;
  if (type === null && kind === null) return total;
  return types
    .filter((each) => type === null || each.type === type)
    .reduce(
      (sum, each) => sum + (kind === null ? each.count : (each.kinds.find((one) => one.kind === kind)?.count ?? 0)),
      0,
    );
}

/** The id of a row: a hash, because task ids may contain any character. */
export function anchorOf(taskId: string): string {
  return `task-${sha256Hex(taskId).slice(0, 12)}`;
}

/** True if a bulk decision applies to the task. */
export function canBeChosen({ actions }: Task): boolean {
  return TASK_RUN_ACTIONS.some((action) => actions.includes(action));
}

/** The mark of a row: what became of its task since it was shown. */
export interface RowMark {
  readonly anchor: string;
  readonly now: 'same' | 'changed' | 'gone';
}

/** The current state of a shown row. */
interface RowNow extends RowMark {
  readonly canBeChosen: boolean;
}

/** The state of the shown rows, the number of tasks opened after `newestAt`, and the counts of all tasks. */
export async function sinceShown(
  api: OperatorApi,
  actor: Actor,
  shown: { query: TaskQuery; rows: readonly (readonly [id: string, question: string])[]; newestAt: string },
): Promise<{ rows: readonly RowNow[]; newCount: number; counts: TaskCounts }> {
  const { query } = shown;
  const [newest, now, counts] = await Promise.all([
    listOf(api, actor, { ...query, order: 'newest', cursor: null }),
    listOf(api, actor, query),
    readRoute(api, ROUTES.countTasks, { actor }),
  ]);
  const rows = shown.rows.map(async ([id, question]): Promise<RowNow> => {
    const listed = now.list.items.find((task) => task.id === id);
    const task = listed ?? (await readRecord(api, ROUTES.readTask, { actor, params: { task_id: id } }));
    const isSame = task !== null && questionOf(task) === question;
    return {
      anchor: anchorOf(id),
      now: task === null ? 'gone' : isSame ? 'same' : 'changed',
      canBeChosen: task !== null && canBeChosen(task),
    };
  });
  const newCount = newest.list.items.filter(({ opened_at: at = '' }) => at > shown.newestAt).length;
  return { rows: await Promise.all(rows), newCount, counts };
}
