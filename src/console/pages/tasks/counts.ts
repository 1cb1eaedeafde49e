import { ENTRY_KINDS, type EntryKind } from '../../../domain/vocabulary';
import { TASK_TYPES, type TaskType } from '../../../domain/ops/tasks';
import type { TaskCounts } from '../../../contracts/operator';
import { oneOf, type Viewer } from '../../viewer';
import { fittingIn, isNarrowed, type TaskQuery } from './model';

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
export function countTexts(viewer: Viewer, query: TaskQuery, counts: TaskCounts): ReadonlyMap<string, string> {
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
