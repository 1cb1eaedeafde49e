import { anyPage } from '../contracts/paging';
import type { CommandOutput, Invocation } from './command';

/** The most items of a page. */
const LIMIT_MAX = 200;

interface PagedList {
  readonly read: (query: Readonly<Record<string, unknown>>) => Promise<unknown>;
  readonly lines: (page: unknown) => readonly string[];
}

/** Reads one page, or with --all every page, as one list. */
export async function pagedOutput(
  call: Invocation,
  query: Readonly<Record<string, unknown>>,
  { read, lines }: PagedList,
): Promise<CommandOutput> {
  const readPage = async (more: object = {}) => anyPage.parse(await read({ ...query, ...more }));
  if (!call.flag('all')) {
    const page = await readPage();
    const more = page.next_cursor === null ? [] : ['', `More: --cursor ${page.next_cursor}, or --all`];
    return { json: page, lines: [...lines(page), ...more] };
  }
  const progress = call.terminal.progress('read', null);
  try {
    let page = await readPage({ limit: LIMIT_MAX });
    const { items } = page;
    progress?.at(items.length);
    while (page.next_cursor !== null) {
      // oxlint-disable-next-line eslint/no-await-in-loop
      page = await readPage({ limit: LIMIT_MAX, cursor: page.next_cursor });
      items.push(...page.items);
      progress?.at(items.length);
    }
    const all = { items, next_cursor: null };
    return { json: all, lines: lines(all) };
  } finally {
    progress?.end();
  }
}
