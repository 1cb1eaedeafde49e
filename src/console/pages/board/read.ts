import type { TowRecord } from '../../../contracts/records';
import type { TowCounts } from '../../../workflow/list-port';
import { towPasses } from '../../../workflow/tow-passes';
import type { PageTools } from '../../tools';
import { newAmong } from '../../new-among';
import { filterOf, PAGE_ROWS, type BoardQuery } from './query';

/** What a board shows, read from the store. */
export interface Board {
  readonly rows: readonly BoardRow[];
  readonly counts: TowCounts;
  /** The crews that have tows. */
  readonly crews: readonly string[];
  /** How many tows would be shown between these rows if the list was loaded again; `PAGE_ROWS`: that many, or more. */
  readonly newCount: number;
  readonly nextCursor: string | null;
}

/** A tow that is shown. */
export interface BoardRow {
  readonly ref: string;
  /** Null once it left for the archive. */
  readonly record: TowRecord | null;
  /** False once it is not what the list is about any more. */
  readonly passes: boolean;
}

type Tools = Pick<PageTools, 'progress'>;

/** A page of the list as it is now. */
export async function readBoard({ progress: { tows, rules } }: Tools, query: BoardQuery): Promise<Board> {
  const [page, counts, crews] = await Promise.all([
    tows.list(filterOf(query, rules.overdueAfter)),
    tows.counts(rules.overdueAfter),
    tows.crews(),
  ]);
  const rows = page.items.map((record) => ({ ref: record.tow.towingReferenceId, record, passes: true }));
  return { rows, counts, crews, newCount: 0, nextCursor: page.nextCursor };
}

/**
 * The rows of a page that is being looked at, in the order they are shown in, as they are now; and how many tows the list
 * would show between them that it does not. `nextCursor`: of the page as it is shown, null when it was the last.
 */
export async function refreshBoard(
  tools: Tools,
  { query, shown, nextCursor }: { query: BoardQuery; shown: readonly string[]; nextCursor: string | null },
): Promise<Board> {
  // Where no row is shown, none can be pushed away.
  if (shown.length === 0) return readBoard(tools, query);
  const { tows, rules } = tools.progress;
  const filter = filterOf(query, rules.overdueAfter);
  const [page, counts, crews] = await Promise.all([tows.list(filter), tows.counts(rules.overdueAfter), tows.crews()]);
  const listed = new Map<string, TowRecord>(page.items.map((record) => [record.tow.towingReferenceId, record]));
  const others = await tows.listByRefs(shown.filter((ref) => !listed.has(ref)));
  const known = new Map<string, TowRecord>([
    ...listed,
    ...others.map((record) => [record.tow.towingReferenceId, record] as const),
  ]);
  const rows = shown.map((ref) => {
    const record = known.get(ref) ?? null;
    return { ref, record, passes: record !== null && (listed.has(ref) || towPasses(record, filter)) };
  });
  return {
    rows,
    counts,
    crews,
    newCount: newAmong([...listed.keys()], { shown, isLast: nextCursor === null }),
    nextCursor,
  };
}

/** True when there may be more new tows than were counted. */
export function isManyNew({ newCount }: Pick<Board, 'newCount'>): boolean {
  return newCount >= PAGE_ROWS;
}
