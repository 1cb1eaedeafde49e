import {
  redirect,
  page,
  part,
  type FormFailure,
  type PageResult,
  type Pages,
  type PostedForm,
  type PageVisit,
  type PageTools,
} from '../../page';
import { PAGES } from '../../page-table';
import { Empty } from '../../parts/text';
import { oneOf, type Viewer } from '../../viewer';
import { failureOf, bulkPath, readRunQuery, RUN_FORM } from './model';
import { RecentPart, RecentRuns, Run } from './view';

const RECENT_MAX = 30;

/** Bulk runs: preview, progress, results, and the recent runs. */
export function serveBulk(pages: Pages, { bulk }: Pick<PageTools, 'bulk'>): void {
  const show = async (visit: PageVisit, failure: FormFailure | null = null): Promise<PageResult> => {
    const { viewer, params, query, wantsPart } = visit;
    const run = await bulk.read(params('id'));
    if (!run) return missingRun(viewer);
    const content = <Run viewer={viewer} run={run} query={readRunQuery(query)} failure={failure} />;
    if (wantsPart) return part(content);
    const title = viewer.messages.bulk.runTitle({ action: viewer.messages.bulk.actions[run.action], count: run.total });
    return page(title, content, { httpStatus: failure?.refusal.httpStatus ?? 200 });
  };

  pages.get(PAGES.bulk.path, PAGES.bulk.role, async ({ viewer, wantsPart }) => {
    const runs = await bulk.recent(RECENT_MAX);
    if (wantsPart) return part(<RecentPart viewer={viewer} runs={runs} />);
    return page(viewer.messages.bulk.recent, <RecentRuns viewer={viewer} runs={runs} />);
  });
  pages.get('/tasks/bulk/:id', 'viewer', (visit) => show(visit));
  pages.post('/tasks/bulk/:id', 'dispatcher', async (posted) => {
    const id = posted.params('id');
    const act = oneOf(RUN_ACTIONS, posted.form.get('act') ?? undefined);
    const done = act === null ? null : await runCommand(bulk, act, posted);
    if (done === null || done.ok) return redirect(bulkPath(id), act && DONE[act]);
    return show(posted, failureOf(done.refusal, { form: RUN_FORM, entered: posted.form }));
  });
}

const RUN_ACTIONS = ['start', 'resume', 'abort'] as const;
type RunAction = (typeof RUN_ACTIONS)[number];
const DONE = { start: 'bulk_started', resume: 'bulk_resumed', abort: 'bulk_aborted' } as const;

function runCommand(bulk: PageTools['bulk'], act: RunAction, { params, actor }: PostedForm) {
  const id = params('id');
  switch (act) {
    case 'start':
      return bulk.start(id, actor);
    case 'resume':
      return bulk.resume(id, actor);
    case 'abort':
      return bulk.abort(id, actor);
  }
}

function missingRun({ messages }: Viewer): PageResult {
  const { missing, backToTasks } = messages.bulk;
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
