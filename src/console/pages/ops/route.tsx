import { ROUTES } from '../../../contracts/operator-routes';
import { page, part, type FormFailure, type PageResult, type Pages, type PageVisit, type PageTools } from '../../page';
import { PAGES } from '../../page-table';
import { submit } from '../../api-calls';
import { bodyOf } from '../../forms';
import { oneOf } from '../../viewer';
import { HOURS, readSeries, Charts } from './charts';
import { OpsNow, OverviewPage } from './view';

type OpsTools = Pick<PageTools, 'api' | 'ops'>;

const ASSETS = ['uplot.css', 'uplot.js', 'relative-times.js', 'charts.js', 'ops.js'];

/** The overview of ops: the state of sending, queues and processes, and the charts. */
export function serveOps(pages: Pages, tools: OpsTools): void {
  const { api, ops } = tools;
  const show = async (visit: PageVisit, failure: FormFailure | null): Promise<PageResult> => {
    const { viewer, query } = visit;
    const hours = hoursIn(query);
    const [known, series] = await Promise.all([ops.state(viewer.nowMs), readSeries(ops.figures, hours, viewer.nowMs)]);
    return page(
      viewer.messages.common.ops,
      <OverviewPage viewer={viewer} known={known} series={series} hours={hours} failure={failure} />,
      { assets: ASSETS, httpStatus: failure?.refusal.httpStatus ?? 200 },
    );
  };

  pages.get(PAGES.ops.path, PAGES.ops.role, async (visit) => {
    if (!visit.wantsPart) return show(visit, null);
    const { viewer } = visit;
    const known = await ops.state(viewer.nowMs);
    return part(<OpsNow viewer={viewer} known={known} failure={null} />);
  });

  pages.get('/ops/charts', 'viewer', async ({ viewer, query }) => {
    const hours = hoursIn(query);
    const series = await readSeries(ops.figures, hours, viewer.nowMs);
    return part(<Charts viewer={viewer} series={series} hours={hours} />);
  });

  for (const act of ['pause', 'resume'] as const) {
    pages.post(`/ops/queues/:queue/${act}`, 'ops', async (posted) => {
      const queue = posted.params('queue');
      return submit(api, posted, {
        route: act === 'pause' ? ROUTES.pauseQueue : ROUTES.resumeQueue,
        form: `queue-${queue}`,
        params: { queue },
        body: bodyOf(posted.form, { only: ['reason'] }),
        next: '/ops#queues',
        done: act === 'pause' ? 'queue_paused' : 'queue_resumed',
        again: (failure) => show(posted, failure),
      });
    });
  }

  pages.post('/ops/operations/:operation/resume', 'ops', async (posted) => {
    const operation = posted.params('operation');
    return submit(api, posted, {
      route: ROUTES.resumeOperation,
      form: `resume-${operation}`,
      params: { operation },
      body: bodyOf(posted.form, { only: ['reason'] }),
      next: '/ops#sending',
      done: 'operation_resumed',
      again: (failure) => show(posted, failure),
    });
  });
}

function hoursIn(query: URLSearchParams) {
  return oneOf(HOURS, query.get('hours') ?? undefined) ?? '1';
}
