import { page, part, type Pages, type PageTools } from '../../page';
import { PAGES } from '../../page-table';
import { ListPage, LiveList } from './view';
import { VIOLATION_ROWS, PATH, queryOf, readQuery, readViolations, refreshViolations } from './model';

/** Violations: the list, reporting one, and the page of each. */
export function serveViolations(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  pages.get(PAGES.violations.path, PAGES.violations.role, async ({ viewer, actor, query }) => {
    const list = await readViolations(api, actor, readQuery(query));
    const assets = ['board.js', 'relative-times.js'];
    return page(viewer.messages.common.violations, <ListPage viewer={viewer} list={list} />, { assets });
  });
  pages.post(`${PATH}/live`, 'viewer', async ({ viewer, actor, form }) => {
    const query = queryOf(form.get('list') ?? '');
    const next = form.get('next') ?? '';
    const shown = form.getAll('shown').slice(0, VIOLATION_ROWS);
    const list = await refreshViolations(api, actor, { query, shown, nextCursor: next === '' ? null : next });
    return part(<LiveList viewer={viewer} list={list} />);
  });
}
