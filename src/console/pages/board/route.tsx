import { ROUTES } from '../../../contracts/operator-routes';
import { page, part, type FormFailure, type Pages, type PageTools, type PageVisit } from '../../page';
import { PAGES } from '../../page-table';
import { digestOf } from '../../parts/form';
import { readRecord, CHANGED_MEANWHILE, submit } from '../../api-calls';
import { bodyOf } from '../../forms';
import { formOf } from './assign';
import { addressOf, queryOf, readQuery, type BoardQuery, readBoard, refreshBoard } from './model';
import { rowId } from './rows';
import { BoardPage, LiveBoard } from './view';

/** The board: every tow as it stands, and who goes. */
export function serveBoard(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  const show = async ({ viewer, actor }: PageVisit, query: BoardQuery, failure: FormFailure | null) => {
    const board = await readBoard(api, actor, query);
    return page(viewer.messages.common.board, <BoardPage viewer={viewer} board={board} failure={failure} />, {
      assets: ['board.js'],
      httpStatus: failure?.refusal.httpStatus ?? 200,
    });
  };

  pages.get(PAGES.board.path, PAGES.board.role, (visit) => show(visit, readQuery(visit.query), null));

  pages.post('/board/live', 'viewer', async ({ viewer, actor, form }) => {
    const board = await refreshBoard(api, actor, form);
    return part(<LiveBoard viewer={viewer} board={board} failure={null} />);
  });

  pages.post('/board/assign', 'dispatcher', async (posted) => {
    const { actor, form } = posted;
    const query = queryOf(form.get('back') ?? '');
    const ref = form.get('ref') ?? '';
    const isUnassigned = form.get('unassigned') === 'true';
    return submit(api, posted, {
      route: ROUTES.assignTow,
      form: formOf(ref),
      question: async () => {
        const tow = await readRecord(api, ROUTES.readTow, { actor, params: { towing_reference_id: ref } });
        return tow && digestOf(tow.dispatch.assignment);
      },
      overtaken: CHANGED_MEANWHILE,
      params: { towing_reference_id: ref },
      body: isUnassigned ? { crew: null } : bodyOf(form, { only: ['crew', 'truck'] }),
      next: `${addressOf(query, { withCursor: true })}#${rowId(ref)}`,
      done: isUnassigned ? 'saved' : 'assigned',
      again: (failure) => show(posted, query, failure),
    });
  });
}
