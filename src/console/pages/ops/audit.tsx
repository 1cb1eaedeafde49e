import { ROUTES } from '../../../contracts/operator-routes';
import { elsewhere, page } from '../../answers';
import type { Pages } from '../../serve';
import type { PageTools } from '../../tools';
import { AuditPage } from './audit-page';

const PATH = '/ops/audit';
const ROWS = '50';

/** What people did, newest first. */
export function serveAuditPage(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  pages.get(PATH, 'ops', async ({ viewer, actor, query }) => {
    const tow = query.get('tow')?.trim() ?? '';
    const cursor = query.get('cursor');
    const answer = await api.call(ROUTES.listAudit, {
      actor,
      query: {
        limit: ROWS,
        ...(tow === '' ? {} : { towing_reference_id: tow }),
        ...(cursor === null ? {} : { cursor }),
      },
    });
    // The place in the list is wrong, or the reference longer than any.
    if (!answer.ok) return elsewhere(PATH);
    const { items, next_cursor: nextCursor } = answer.value;
    return page(
      viewer.words.audit.title,
      <AuditPage viewer={viewer} entries={items} tow={tow} cursor={cursor} nextCursor={nextCursor} />,
    );
  });
}
