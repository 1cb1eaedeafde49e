import type { Option } from 'commander';
import { pagedQuery } from '../contracts/paging';
import type { Call, Shown } from './verb';
import { checked, numberOption, option } from './verb';

/** Lists, page by page: one page as it is asked for, or all of them. */

interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

export interface PageQuery {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
}

const LIMIT_MAX = 200;

export const LIST_OPTIONS: readonly Option[] = [
  numberOption('--limit <number>', `how many at once, at most ${LIMIT_MAX}`),
  option('--cursor <cursor>', 'go on where the page before ended'),
  option('--all', 'every page; a bar counts them'),
];

/** Asks for one page, or with --all for every one, and shows them as one list. */
export async function shownList<T>(
  call: Call,
  read: (page: PageQuery) => Promise<Page<T>>,
  lines: (items: readonly T[]) => readonly string[],
): Promise<Shown> {
  checked(pagedQuery, { limit: call.number('limit'), cursor: call.text('cursor') });
  if (call.flag('all')) {
    const items = await everyPage(call, read);
    return { json: { items, next_cursor: null }, lines: lines(items) };
  }
  const page = await read({ limit: call.number('limit'), cursor: call.text('cursor') });
  const more = page.next_cursor === null ? [] : ['', `More: --cursor ${page.next_cursor}, or --all`];
  return { json: page, lines: [...lines(page.items), ...more] };
}

async function everyPage<T>(call: Call, read: (page: PageQuery) => Promise<Page<T>>): Promise<T[]> {
  const progress = call.screen.progress('read', null);
  const items: T[] = [];
  let cursor: string | undefined = call.text('cursor');
  try {
    do {
      const page: Page<T> = await read({ limit: LIMIT_MAX, cursor });
      items.push(...page.items);
      progress?.at(items.length);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return items;
  } finally {
    progress?.end();
  }
}
