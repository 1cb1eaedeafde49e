import { ROUTES } from '../../../contracts/operator-routes';
import { page, part, type Failure, type Shown } from '../../answers';
import { carryOut } from '../../carry-out';
import { bodyOf } from '../../entries';
import type { Pages, Visit } from '../../serve';
import type { PageTools } from '../../tools';
import { oneOf } from '../../viewer';
import { serveAuditPage } from './audit';
import { HOURS, readSeries } from './chart-lines';
import { Charts } from './charts';
import { serveDeliveryPages } from './deliveries';
import { serveKeyPages } from './keys';
import { OpsNow, OverviewPage } from './overview';
import { readOverview } from './read';

export type OpsTools = Pick<PageTools, 'api' | 'processes' | 'figures' | 'spool'>;

/** What ops look at: how things stand, what came in, who may do what, who did what. */
export function serveOps(pages: Pages, tools: OpsTools): void {
  serveOverview(pages, tools);
  serveDeliveryPages(pages, tools);
  serveKeyPages(pages, tools);
  serveAuditPage(pages, tools);
}

const ASSETS = ['uplot.css', 'uplot.js', 'countdown.js', 'charts.js', 'ops.js'];

function serveOverview(pages: Pages, tools: OpsTools): void {
  const { api, figures } = tools;
  const show = async (visit: Visit, failure: Failure | null): Promise<Shown> => {
    const { viewer, actor, query } = visit;
    const hours = hoursIn(query);
    const [known, series] = await Promise.all([
      readOverview(tools, { actor, nowMs: viewer.nowMs }),
      readSeries(figures, hours, viewer.nowMs),
    ]);
    return page(
      viewer.words.ops.title,
      <OverviewPage viewer={viewer} known={known} series={series} hours={hours} failure={failure} />,
      { assets: ASSETS, httpStatus: failure?.refusal.httpStatus ?? 200 },
    );
  };

  pages.get('/ops', 'viewer', async (visit) => {
    if (!visit.wantsPart) return show(visit, null);
    const { viewer, actor } = visit;
    const known = await readOverview(tools, { actor, nowMs: viewer.nowMs });
    return part(<OpsNow viewer={viewer} known={known} failure={null} />);
  });

  pages.get('/ops/charts', 'viewer', async ({ viewer, query }) => {
    const hours = hoursIn(query);
    const series = await readSeries(figures, hours, viewer.nowMs);
    return part(<Charts viewer={viewer} series={series} hours={hours} />);
  });

  for (const act of ['pause', 'resume'] as const) {
    pages.post(`/ops/queues/:queue/${act}`, 'ops', async (posted) => {
      const queue = posted.params('queue');
      return carryOut(api, posted, {
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
    return carryOut(api, posted, {
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
