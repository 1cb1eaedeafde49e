import { part, type PageResult, type PageTools, type PostedForm } from '../../page';
import { type Viewer, oneOf } from '../../viewer';
import {
  addressOf,
  fittingIn,
  queryOf,
  sinceShown,
  TASK_ROWS,
  type RowMark,
  type TaskQuery,
  isNarrowed,
} from './model';
import { ENTRY_KINDS, type EntryKind } from '../../../domain/vocabulary';
import { TASK_TYPES, type TaskType } from '../../../domain/ops/tasks';
import type { TaskCounts } from '../../../contracts/operator';

/**
 * Keeps the list current without moving rows: marks the rows that were decided or changed, counts new tasks, and updates
 * the counts that are shown. Typed text is never touched.
 */
interface LiveProps {
  readonly viewer: Viewer;
  readonly query: TaskQuery;
  /** `question id` of each row that is shown. */
  readonly shown: readonly string[];
  /** The ids of the counts that are shown. */
  readonly counted: readonly string[];
  readonly newestAt: string;
  readonly newCount: number;
}

export function Live({ viewer, query, shown, counted, newestAt, newCount }: LiveProps) {
  const messages = viewer.messages.tasks;
  const asked = { form_token: viewer.formToken, list: addressOf(query), shown, counted, newest: newestAt };
  return (
    <div
      id="tasks-live"
      class="tasks-live"
      role="status"
      data-watch="tasks"
      hx-post="/tasks/live"
      hx-trigger="changed"
      hx-swap="morph:outerHTML"
      hx-vals={JSON.stringify(asked)}
    >
      {newCount > 0 && (
        <a class="button main" href={addressOf(query)}>
          {newCount < TASK_ROWS ? messages.fresh({ count: newCount }) : messages.freshMany}
        </a>
      )}
    </div>
  );
}

/** Renders the count of new tasks; the mark of each shown row and each shown count as out-of-band swaps. */
export async function showLive(
  { api }: Pick<PageTools, 'api'>,
  { viewer, actor, form }: PostedForm,
): Promise<PageResult> {
  const query = queryOf(form.get('list') ?? '');
  const shown = form.getAll('shown').slice(0, TASK_ROWS);
  const newestAt = form.get('newest') ?? '';
  const { rows, newCount, counts } = await sinceShown(api, actor, { query, rows: shown.map(rowOf), newestAt });
  const open = rows.filter(({ now }) => now !== 'gone').length;
  const inBar = {
    matching: fittingIn(counts, query) ?? open + newCount,
    onPage: rows.filter((row) => row.canBeChosen).length,
  };
  const texts = [...countTexts(viewer, query, counts), ...bulkTexts(viewer, inBar)].filter(([id]) =>
    form.getAll('counted').includes(id),
  );
  const counted = texts.map(([id]) => id);
  return part(
    <>
      <Live viewer={viewer} query={query} shown={shown} counted={counted} newestAt={newestAt} newCount={newCount} />
      {rows.map((row) => (
        <Mark viewer={viewer} row={row} isNews />
      ))}
      {texts.map(([id, text]) => (
        <span id={id} hx-swap-oob="innerHTML">
          {text}
        </span>
      ))}
    </>,
  );
}

function rowOf(shown: string): readonly [id: string, question: string] {
  const [question = '', ...id] = shown.split(' ');
  return [id.join(' '), question];
}

/** Marks a row whose task was closed or changed since it was shown. */
export function Mark({ viewer, row, isNews = false }: { viewer: Viewer; row: RowMark; isNews?: boolean }) {
  return (
    <p
      class="tasks-gone"
      id={`${row.anchor}-now`}
      role="status"
      data-now={row.now}
      // Morphing keeps the element, so that screen readers announce it.
      {...(isNews ? { 'hx-swap-oob': 'morph' } : {})}
    >
      {markText(viewer, row)}
    </p>
  );
}

function markText({ messages }: Viewer, { now }: RowMark): string {
  switch (now) {
    case 'gone':
      return messages.tasks.gone;
    case 'changed':
      return messages.tasks.changed;
    case 'same':
      return '';
  }
}

/** The counts of the task list. Each has an element of its own, so that a live refresh replaces the number alone. */

export const TOTAL_ID = 'tasks-total';
export const ALL_ID = 'tasks-of-all';
/** In the bulk bar: the tasks on this page, and those that match the filter. */
export const ON_PAGE_ID = 'bulk-on-page';
export const MATCHING_ID = 'bulk-matching';
export const typeId = (type: TaskType) => `tasks-of-type-${type}`;
export const kindId = (kind: EntryKind) => `tasks-of-kind-${kind}`;

/** Types with tasks, and the chosen one. */
export function typesIn(counts: TaskCounts, { type: chosen }: TaskQuery): { type: TaskType; count: number }[] {
  return TASK_TYPES.map((type) => ({ type, count: countOfType(counts, type) })).filter(
    ({ type, count }) => count > 0 || type === chosen,
  );
}

/** Kinds with tasks of the chosen type. */
export function kindsIn(counts: TaskCounts, query: TaskQuery): { kind: EntryKind; count: number }[] {
  return ENTRY_KINDS.map((kind) => ({ kind, count: countOfKind(counts, query, kind) })).filter(
    ({ kind, count }) => count > 0 || kind === query.kind,
  );
}

/** The number of tasks that the list has, as a sentence. */
export function totalText({ messages: { tasks } }: Viewer, query: TaskQuery, counts: TaskCounts): string {
  const fitting = fittingIn(counts, query);
  return isNarrowed(query) && fitting !== null ? tasks.shown({ count: fitting }) : tasks.open({ count: counts.total });
}

/** The ids of the counts that a page shows. */
export function countIds(counts: TaskCounts, query: TaskQuery): string[] {
  const [types, kinds] = [typesIn(counts, query), kindsIn(counts, query)];
  return [TOTAL_ID, ALL_ID, ...types.map(({ type }) => typeId(type)), ...kinds.map(({ kind }) => kindId(kind))];
}

/** The text of each count by its id, also of those that a page does not show. */
function countTexts(viewer: Viewer, query: TaskQuery, counts: TaskCounts): ReadonlyMap<string, string> {
  const { formats } = viewer;
  return new Map([
    [TOTAL_ID, totalText(viewer, query, counts)],
    [ALL_ID, formats.number(counts.total)],
    ...TASK_TYPES.map((type) => [typeId(type), formats.number(countOfType(counts, type))] as const),
    ...ENTRY_KINDS.map((kind) => [kindId(kind), formats.number(countOfKind(counts, query, kind))] as const),
  ]);
}

/** The ids of the counts in the bulk bar. */
export function bulkIds(query: TaskQuery): string[] {
  return isNarrowed(query) ? [ON_PAGE_ID, MATCHING_ID] : [ON_PAGE_ID];
}

/** The text of each count in the bulk bar by its id. */
export function bulkTexts(
  { messages: { runs } }: Viewer,
  { matching, onPage }: { readonly matching: number; readonly onPage: number },
): ReadonlyMap<string, string> {
  return new Map([
    [ON_PAGE_ID, runs.scopes.page({ count: onPage })],
    [MATCHING_ID, runs.scopes.filter({ count: matching })],
  ]);
}

function countOfType({ types }: TaskCounts, type: TaskType): number {
  return types.find((each) => oneOf([type], each.type) !== null)?.count ?? 0;
}

function countOfKind({ types }: TaskCounts, { type }: TaskQuery, kind: EntryKind): number {
  return types
    .filter((each) => type === null || each.type === type)
    .flatMap(({ kinds }) => kinds)
    .filter((each) => each.kind === kind)
    .reduce((sum, { count }) => sum + count, 0);
}
