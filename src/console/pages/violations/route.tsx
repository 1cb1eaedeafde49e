import { page, part, type Pages, type PageTools } from '../../page';
import { PAGES } from '../../page-table';
import { ListPage, LiveList } from './view';
import { VIOLATION_ROWS, PATH, queryOf, readQuery, readList, refreshList } from './model';

/** Violations: the list, reporting one, and the page of each. */
export function serveViolations(pages: Pages, tools: PageTools): void {
  pages.get(PAGES.violations.path, PAGES.violations.role, async ({ viewer, query: given }) => {
    const query = readQuery(given);
    const list = await readList(tools, query);
    const assets = ['board.js', 'relative-times.js'];
    return page(viewer.messages.violations.title, <ListPage viewer={viewer} query={query} list={list} />, { assets });
  });
  pages.post(`${PATH}/live`, 'viewer', async ({ viewer, form }) => {
    const query = queryOf(form.get('list') ?? '');
    const next = form.get('next') ?? '';
    const shown = form.getAll('shown').slice(0, VIOLATION_ROWS);
    const list = await refreshList(tools, { query, shown, nextCursor: next === '' ? null : next });
    return part(<LiveList viewer={viewer} query={query} list={list} />);
  });
}
