import { page, part } from '../../answers';
import type { Pages } from '../../serve';
import type { PageTools } from '../../tools';
import { ListPage, LiveList } from './list';
import { serveViolation } from './page';
import { PAGE_ROWS, PATH, queryOf, readQuery } from './query';
import { readList, refreshList } from './read';
import { serveReport } from './report';

/** Violations: the list, reporting one, and the page of each. */
export function serveViolations(pages: Pages, tools: PageTools): void {
  pages.get(PATH, 'viewer', async ({ viewer, query: given }) => {
    const query = readQuery(given);
    const list = await readList(tools, query);
    const assets = ['board.js'];
    return page(viewer.words.violations.title, <ListPage viewer={viewer} query={query} list={list} />, { assets });
  });
  pages.post(`${PATH}/live`, 'viewer', async ({ viewer, form }) => {
    const query = queryOf(form.get('list') ?? '');
    const next = form.get('next') ?? '';
    const shown = form.getAll('shown').slice(0, PAGE_ROWS);
    const list = await refreshList(tools, { query, shown, nextCursor: next === '' ? null : next });
    return part(<LiveList viewer={viewer} query={query} list={list} />);
  });
  serveReport(pages, tools);
  serveViolation(pages, tools);
}
