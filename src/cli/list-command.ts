import type { Option } from 'commander';
import { pagedQuery } from '../contracts/paging';
import { checked, numberOption, option, type CommandOutput, type Invocation } from './command';

interface ListPage<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

export interface PageQuery {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
}

const LIMIT_MAX = 200;

export const LIST_OPTIONS: readonly Option[] = [
  numberOption('--limit <number>', `items per page, at most ${LIMIT_MAX}`),
  option('--cursor <cursor>', 'the next page, by the cursor of the page before'),
  option('--all', 'all pages'),
];

/** Reads one page, or with --all every page, as one list. */
export async function listOutput<T>(
  call: Invocation,
  read: (page: PageQuery) => Promise<ListPage<T>>,
  lines: (items: readonly T[]) => readonly string[],
): Promise<CommandOutput> {
  checked(pagedQuery, { limit: call.number('limit'), cursor: call.text('cursor') });
  if (call.flag('all')) {
    const items = await readAllPages(call, read);
    return { json: { items, next_cursor: null }, lines: lines(items) };
  }
  const page = await read({ limit: call.number('limit'), cursor: call.text('cursor') });
  const more = page.next_cursor === null ? [] : ['', `More: --cursor ${page.next_cursor}, or --all`];
  return { json: page, lines: [...lines(page.items), ...more] };
}

/** Reads every page as one list. */
export async function readAllPages<T>(call: Invocation, read: (page: PageQuery) => Promise<ListPage<T>>): Promise<T[]> {
  const progress = call.terminal.progress('read', null);
  const items: T[] = [];
  let cursor: string | undefined = call.text('cursor');
  try {
    do {
      const page: ListPage<T> = await read({ limit: LIMIT_MAX, cursor });
      items.push(...page.items);
      progress?.at(items.length);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return items;
  } finally {
    progress?.end();
  }
}
