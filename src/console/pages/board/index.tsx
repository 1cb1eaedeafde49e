import { ROUTES } from '../../../contracts/operator-routes';
import { page, part, type Failure, type Shown } from '../../answers';
import { carryOut } from '../../carry-out';
import { bodyOf } from '../../entries';
import type { Pages } from '../../serve';
import type { PageTools } from '../../tools';
import type { Viewer } from '../../viewer';
import { formOf } from './assign';
import { addressOf, PAGE_ROWS, queryOf, readQuery, type BoardQuery } from './query';
import { readBoard, refreshBoard } from './read';
import { rowId } from './rows';
import { BoardPage, LiveBoard } from './view';

/** The board: every tow as it stands, and who goes. */
export function serveBoard(pages: Pages, tools: Pick<PageTools, 'api' | 'progress'>): void {
  const { rules } = tools.progress;

  const show = async (viewer: Viewer, query: BoardQuery, failure: Failure | null): Promise<Shown> => {
    const board = await readBoard(tools, query);
    return page(
      viewer.words.board.title,
      <BoardPage viewer={viewer} query={query} board={board} rules={rules} failure={failure} />,
      { assets: ['board.js'], httpStatus: failure?.refusal.httpStatus ?? 200 },
    );
  };

  pages.get('/board', 'viewer', ({ viewer, query }) => show(viewer, readQuery(query), null));

  pages.post('/board/live', 'viewer', async ({ viewer, form }) => {
    const query = queryOf(form.get('board') ?? '');
    const next = form.get('next') ?? '';
    const board = await refreshBoard(tools, {
      query,
      shown: form.getAll('shown').slice(0, PAGE_ROWS),
      nextCursor: next === '' ? null : next,
    });
    return part(<LiveBoard viewer={viewer} query={query} board={board} rules={rules} failure={null} />);
  });

  pages.post('/board/assign', 'dispatcher', async (posted) => {
    const { viewer, form } = posted;
    const query = queryOf(form.get('back') ?? '');
    const ref = form.get('ref') ?? '';
    const isForNobody = form.get('nobody') === 'true';
    return carryOut(tools.api, posted, {
      route: ROUTES.assignTow,
      form: formOf(ref),
      params: { towing_reference_id: ref },
      body: isForNobody ? { crew: null } : bodyOf(form, { only: ['crew', 'truck'] }),
      next: `${addressOf(query, { withCursor: true })}#${rowId(ref)}`,
      done: isForNobody ? 'saved' : 'assigned',
      again: (failure) => show(viewer, query, failure),
    });
  });
}
