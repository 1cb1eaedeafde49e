import type { ViolationRecord } from '../../../contracts/violations';
import type { PageTools } from '../../tools';
import { newAmong } from '../../new-among';
import { filterOf, type ViolationsQuery } from './query';

/** What a list shows, read from the store. */
export interface ViolationList {
  readonly rows: readonly ViolationRow[];
  /** How many violations would be shown between these rows if the list was loaded again. */
  readonly newCount: number;
  readonly nextCursor: string | null;
}

/** A violation that is shown. */
export interface ViolationRow {
  readonly id: string;
  /** Null once it left for the archive. */
  readonly record: ViolationRecord | null;
  /** False once it is not what the list is about any more. */
  readonly passes: boolean;
}

type Tools = Pick<PageTools, 'violations'>;

/** A page of the list as it is now. */
export async function readList({ violations }: Tools, query: ViolationsQuery): Promise<ViolationList> {
  const { items, nextCursor } = await violations.list(filterOf(query));
  return { rows: items.map((record) => ({ id: record.violation.id, record, passes: true })), newCount: 0, nextCursor };
}

/**
 * The rows of a page that is being looked at, in the order they are shown in, as they are now; and how many violations came
 * since. `nextCursor`: of the page as it is shown, null when it was the last.
 */
export async function refreshList(
  { violations }: Tools,
  { query, shown, nextCursor }: { query: ViolationsQuery; shown: readonly string[]; nextCursor: string | null },
): Promise<ViolationList> {
  const { items } = await violations.list(filterOf(query));
  const listed = new Map(items.map((record) => [record.violation.id, record]));
  const rows = await Promise.all(
    shown.map(async (id) => {
      const record = listed.get(id) ?? (await violations.read(id));
      return { id, record, passes: record !== null && (query.state === null || record.state === query.state) };
    }),
  );
  return { rows, newCount: newAmong([...listed.keys()], { shown, isLast: nextCursor === null }), nextCursor };
}
