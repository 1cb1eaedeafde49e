import { ROUTES } from '../../../contracts/operator-routes';
import {
  redirect,
  page,
  part,
  type FormFailure,
  type PageResult,
  type Pages,
  type PageVisit,
  type PageTools,
} from '../../page';
import { PAGES, runPath } from '../../page-table';
import { Empty } from '../../parts/text';
import { readRoute, submit } from '../../api-calls';
import { oneOf, type Viewer } from '../../viewer';
import { queryOf, readRunQuery, RUN_FORM } from './items';
import { RecentPart, RecentRuns, Run, runTitle } from './view';

/** Items of a page, which is loaded again each second while the run goes on. */
const ITEMS_PER_PAGE = '100';

/** Runs: preview, progress, results, and the recent ones. */
export function serveRuns(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  const show = async (visit: PageVisit, failure: FormFailure | null = null): Promise<PageResult> => {
    const { viewer, actor, params, query: given, wantsPart } = visit;
    const call = { actor, params: { run_id: params('id') } };
    const query = readRunQuery(given);
    const [run, items] = await Promise.all([
      api.call(ROUTES.readRun, call),
      api.call(ROUTES.listRunItems, { ...call, query: { ...queryOf(query), limit: ITEMS_PER_PAGE } }),
    ]);
    if (!run.ok) return missingRun(viewer);
    // Only the cursor can be invalid.
    if (!items.ok) return redirect(runPath(run.value.id));
    const content = <Run viewer={viewer} run={run.value} items={items.value} query={query} failure={failure} />;
    if (wantsPart) return part(content);
    return page(runTitle(viewer, run.value), content, { httpStatus: failure?.refusal.httpStatus ?? 200 });
  };

  pages.get(PAGES.runs.path, PAGES.runs.role, async ({ viewer, actor, wantsPart }) => {
    const { items: runs } = await readRoute(api, ROUTES.listRuns, { actor });
    if (wantsPart) return part(<RecentPart viewer={viewer} runs={runs} />);
    return page(viewer.messages.runs.recent, <RecentRuns viewer={viewer} runs={runs} />);
  });
  pages.get('/runs/:id', 'viewer', (visit) => show(visit));
  pages.post('/runs/:id', 'dispatcher', (posted) => {
    const id = posted.params('id');
    const act = oneOf(RUN_ACTS, posted.form.get('act') ?? undefined);
    if (act === null) return Promise.resolve(redirect(runPath(id)));
    return submit(api, posted, {
      route: act === 'start' ? ROUTES.startRun : ROUTES.abortRun,
      params: { run_id: id },
      form: RUN_FORM,
      next: runPath(id),
      done: act === 'start' ? 'run_started' : 'run_aborted',
      again: (failure) => show(posted, failure),
    });
  });
}

const RUN_ACTS = ['start', 'abort'] as const;

function missingRun({ messages }: Viewer): PageResult {
  const { missing, backToTasks } = messages.runs;
  return page(
    missing.title,
    <div class="narrow">
      <h1>{missing.title}</h1>
      <Empty title={missing.hint} />
      <p>
        <a href="/tasks">{backToTasks}</a>
      </p>
    </div>,
    { httpStatus: 404 },
  );
}
