import { createHash } from 'node:crypto';
import type { Report, Task, TowRecord } from '../../../contracts/records';
import type { ViolationRecord } from '../../../contracts/violations';
import type { TaskCounts } from '../../../workflow/list-port';
import { questionOf } from '../../../workflow/bulk-call';
import type { PageTools } from '../../tools';
import { filterOf, PAGE_ROWS, type TaskQuery } from './query';

/** A task with what it is about. */
export interface TaskRow {
  readonly task: Task;
  /** The name of its row on the page. */
  readonly anchor: string;
  /** Tells what it asks now from what it may ask later under the same id. */
  readonly question: string;
  readonly tow: TowRecord | null;
  readonly report: Report | null;
  readonly violation: ViolationRecord | null;
}

export interface TaskPage {
  readonly rows: readonly TaskRow[];
  readonly nextCursor: string | null;
  readonly counts: TaskCounts;
  /** How many tasks fit the filter; null where nobody has counted. */
  readonly fitting: number | null;
  /** When the newest that fits was opened; '' when none does. What is opened later is new. */
  readonly newestAt: string;
}

export type TaskTools = Pick<PageTools, 'tasks' | 'progress' | 'violations'>;

/** A page of what must be decided, with everything that deciding needs. */
export async function readTasks(tools: TaskTools, query: TaskQuery): Promise<TaskPage> {
  const filter = filterOf(query);
  const { order, cursor } = query;
  const [page, newest, counts] = await Promise.all([
    tools.tasks.list({ cursor, limit: PAGE_ROWS, order, filter }),
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

async function rowsOf({ progress, violations }: TaskTools, tasks: readonly Task[]): Promise<TaskRow[]> {
  const refs = tasks.flatMap(({ towing_reference_id: ref }) => (ref === undefined ? [] : [ref]));
  const tows = await progress.tows.listByRefs([...new Set(refs)]);
  const byRef = new Map(tows.map((record): [string, TowRecord] => [record.tow.towingReferenceId, record]));
  return Promise.all(
    tasks.map(async (task) => {
      const tow = byRef.get(task.towing_reference_id ?? '') ?? null;
      return {
        task,
        anchor: anchorOf(task.id),
        question: questionOf(task),
        tow,
        report: tow?.reports.find(({ id }) => id === task.report_id) ?? null,
        violation: task.violation_id === undefined ? null : await violations.read(task.violation_id),
      };
    }),
  );
}

/** How many fit, where the counts tell: they know nothing of single tows. */
function fittingIn({ total, types }: TaskCounts, { type, kind, tow }: TaskQuery): number | null {
  if (tow !== null) return null;
  if (type === null && kind === null) return total;
  return types
    .filter((each) => type === null || each.type === type)
    .reduce(
      (sum, each) => sum + (kind === null ? each.count : (each.kinds.find((one) => one.kind === kind)?.count ?? 0)),
      0,
    );
}

/** The name of a row: ids of tasks hold references, which may hold anything. */
export function anchorOf(taskId: string): string {
  return `task-${createHash('sha256').update(taskId).digest('hex').slice(0, 12)}`;
}

/** What may have happened to a row since it was shown. */
export interface RowNow {
  readonly anchor: string;
  readonly now: 'same' | 'changed' | 'gone';
}

/** What became of rows, each told by id and question, and how many tasks that fit were opened after `newestAt`. */
export async function sinceShown(
  { tasks }: Pick<PageTools, 'tasks'>,
  shown: { query: TaskQuery; rows: readonly (readonly [id: string, question: string])[]; newestAt: string },
): Promise<{ rows: readonly RowNow[]; newCount: number }> {
  const filter = filterOf(shown.query);
  const [newest, ...now] = await Promise.all([
    tasks.list({ cursor: null, limit: PAGE_ROWS, order: 'newest', filter }),
    ...shown.rows.map(async ([id, question]): Promise<RowNow> => {
      const task = await tasks.read(id);
      const isSame = task !== null && questionOf(task) === question;
      return { anchor: anchorOf(id), now: task === null ? 'gone' : isSame ? 'same' : 'changed' };
    }),
  ]);
  return { rows: now, newCount: newest.items.filter(({ opened_at: at = '' }) => at > shown.newestAt).length };
}
