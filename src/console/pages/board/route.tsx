import { ROUTES } from '../../../contracts/operator-routes';
import { page, part, type FormFailure, type PageResult, type Pages, type PageTools } from '../../page';
import { PAGES } from '../../page-table';
import { digestOf } from '../../parts/live-form';
import { CHANGED_MEANWHILE, submit } from '../../submit';
import { bodyOf } from '../../forms';
import type { Viewer } from '../../viewer';
import { formOf } from './assign';
import { addressOf, BOARD_ROWS, queryOf, readQuery, type BoardQuery, readBoard, refreshBoard } from './model';
import { rowId } from './rows';
import { BoardPage, LiveBoard } from './view';

/** The board: every tow as it stands, and who goes. */
export function serveBoard(pages: Pages, tools: Pick<PageTools, 'api' | 'progress'>): void {
  const { rules } = tools.progress;

  const show = async (viewer: Viewer, query: BoardQuery, failure: FormFailure | null): Promise<PageResult> => {
    const board = await readBoard(tools, query);
    return page(
      viewer.messages.board.title,
      <BoardPage viewer={viewer} query={query} board={board} rules={rules} failure={failure} />,
      { assets: ['board.js'], httpStatus: failure?.refusal.httpStatus ?? 200 },
    );
  };

  pages.get(PAGES.board.path, PAGES.board.role, ({ viewer, query }) => show(viewer, readQuery(query), null));

  pages.post('/board/live', 'viewer', async ({ viewer, form }) => {
    const query = queryOf(form.get('board') ?? '');
    const next = form.get('next') ?? '';
    const board = await refreshBoard(tools, {
      query,
      shown: form.getAll('shown').slice(0, BOARD_ROWS),
      nextCursor: next === '' ? null : next,
    });
    return part(<LiveBoard viewer={viewer} query={query} board={board} rules={rules} failure={null} />);
  });

  pages.post('/board/assign', 'dispatcher', async (posted) => {
    const { viewer, form } = posted;
    const query = queryOf(form.get('back') ?? '');
    const ref = form.get('ref') ?? '';
    const isUnassigned = form.get('unassigned') === 'true';
    return submit(tools.api, posted, {
      route: ROUTES.assignTow,
      form: formOf(ref),
      question: async () => {
        const record = await tools.progress.tows.read(ref);
        return record && digestOf(record.tow.dispatch.assignment);
      },
      overtaken: CHANGED_MEANWHILE,
      params: { towing_reference_id: ref },
      body: isUnassigned ? { crew: null } : bodyOf(form, { only: ['crew', 'truck'] }),
      next: `${addressOf(query, { withCursor: true })}#${rowId(ref)}`,
      done: isUnassigned ? 'saved' : 'assigned',
      again: (failure) => show(viewer, query, failure),
    });
  });
}
