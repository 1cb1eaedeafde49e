import { BULK_ACTIONS } from '../../../contracts/bulk';
import { ENTRY_KINDS, type EntryKind } from '../../../domain/vocabulary';
import { SORT_ORDERS, type SortOrder } from '../../../contracts/paging';
import { TASK_TYPES, type TaskType } from '../../../domain/tasks';
import { sha256Hex } from '../../../platform/hash';
import { boundCursor, storeCursor } from '../../../workflow/list-cursor';
import { isEmptyFilter, type TaskFilter, type TaskCounts } from '../../../workflow/list-port';
import { queryOfPath } from '../../requests';
import { oneOf } from '../../viewer';
import type { Task } from '../../../contracts/records';
import { questionOf } from '../../../workflow/decision-call';
import { subjectsOf, type TaskSubjects } from '../../../workflow/task-subjects';
import type { PageTools } from '../../page';
import type { Report } from '../../../workflow/read-models';

/** The query of the task list, as in its address. */
export interface TaskQuery {
  readonly type: TaskType | null;
  /** The report kind or operation. */
  readonly kind: EntryKind | null;
  readonly tow: string | null;
  readonly order: SortOrder;
  /** That of the store. In an address it is bound to the rest of the address. */
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
  const query = {
    type: oneOf(TASK_TYPES, params('type')),
    kind: oneOf(ENTRY_KINDS, params('kind')),
    tow: tow === '' ? null : tow,
    order: oneOf(SORT_ORDERS, params('order')) ?? 'oldest',
    cursor: null,
  };
  return { ...query, cursor: storeCursor(addressOf(query), params('cursor') ?? '') };
}

/** Builds the address of a list. Default values are omitted. */
export function addressOf({ type, kind, tow, order, cursor }: TaskQuery): string {
  const params = new URLSearchParams();
  if (type !== null) params.set('type', type);
  if (kind !== null) params.set('kind', kind);
  if (tow !== null) params.set('tow', tow);
  if (order !== 'oldest') params.set('order', order);
  const address = () => (params.size === 0 ? PATH : `${PATH}?${params.toString()}`);
  const bound = boundCursor(address(), cursor);
  if (bound !== null) params.set('cursor', bound);
  return address();
}

/** The query of an address of this page; the default for other addresses. */
export function queryOf(address: string): TaskQuery {
  return readQuery(queryOfPath(PATH, address));
}

/** Changes the query and returns to the first page. */
export function withChanges(query: TaskQuery, changes: Partial<TaskQuery>): TaskQuery {
  return { ...query, cursor: null, ...changes };
}

/** The filter for the store. */
export function filterOf({ type, kind, tow }: TaskQuery): TaskFilter {
  return { type: type ?? undefined, kind: kind ?? undefined, towingReferenceId: tow ?? undefined };
}

/** True if a filter is set. */
export function isNarrowed(query: TaskQuery): boolean {
  return !isEmptyFilter(filterOf(query));
}

/** A task with its tow, report and violation. */
export interface TaskRow extends TaskSubjects {
  readonly task: Task;
  /** The id of its row. */
  readonly anchor: string;
  /** The current question; differs when the task is opened again under its id. */
  readonly question: string;
  readonly report: Report | null;
}

export interface TaskPage {
  readonly rows: readonly TaskRow[];
  readonly nextCursor: string | null;
  readonly counts: TaskCounts;
  /** The number of tasks that match the filter; null if not counted. */
  readonly fitting: number | null;
  /** When the newest matching task was opened; '' without one. */
  readonly newestAt: string;
}

export type TaskPageTools = Pick<PageTools, 'tasks' | 'progress' | 'violations'>;

/** Reads a page of tasks with their subjects. */
export async function readTasks(tools: TaskPageTools, query: TaskQuery): Promise<TaskPage> {
  const filter = filterOf(query);
  const { order, cursor } = query;
  const [page, newest, counts] = await Promise.all([
    tools.tasks.list({ cursor, limit: TASK_ROWS, order, filter }),
    tools.tasks.list({ cursor: null, limit: 1, order: 'newest', filter }),
    tools.tasks.counts(),
  ]);
  return {
    rows: await rowsOf(tools, page.items),
    nextCursor: page.nextCursor,
    counts,
    fitting: fittingIn(counts, query),
    newestAt: newest.items[0]?.opened_at ?? '',
  };
}

async function rowsOf({ progress, violations }: TaskPageTools, tasks: readonly Task[]): Promise<TaskRow[]> {
  const subjects = await subjectsOf(tasks, { tows: progress.tows, violations });
  return tasks.map((task) => {
    const about = subjects(task);
    const report = about.tow?.reports.find(({ id }) => id === task.report_id) ?? null;
    return { task, anchor: anchorOf(task.id), question: questionOf(task), report, ...about };
  });
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
  return BULK_ACTIONS.some((action) => actions.includes(action));
}

/** The mark of a row: what became of its task since it was shown. */
export interface RowMark {
  readonly anchor: string;
  readonly now: 'same' | 'changed' | 'gone';
}

/** The current state of a shown row. */
export interface RowNow extends RowMark {
  readonly canBeChosen: boolean;
}

/** The state of the shown rows, the number of tasks opened after `newestAt`, and the counts of all tasks. */
export async function sinceShown(
  { tasks }: Pick<PageTools, 'tasks'>,
  shown: { query: TaskQuery; rows: readonly (readonly [id: string, question: string])[]; newestAt: string },
): Promise<{ rows: readonly RowNow[]; newCount: number; counts: TaskCounts }> {
  const filter = filterOf(shown.query);
  const [newest, counts, ...now] = await Promise.all([
    tasks.list({ cursor: null, limit: TASK_ROWS, order: 'newest', filter }),
    tasks.counts(),
    ...shown.rows.map(async ([id, question]): Promise<RowNow> => {
      const task = await tasks.read(id);
      const isSame = task !== null && questionOf(task) === question;
      return {
        anchor: anchorOf(id),
        now: task === null ? 'gone' : isSame ? 'same' : 'changed',
        canBeChosen: task !== null && canBeChosen(task),
      };
    }),
  ]);
  const newCount = newest.items.filter(({ opened_at: at = '' }) => at > shown.newestAt).length;
  return { rows: now, newCount, counts };
}
