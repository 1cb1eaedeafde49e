import { elsewhere, page, part, type Failure, type Shown } from '../../answers';
import { Empty } from '../../parts/text';
import type { Pages, Posted, Visit } from '../../serve';
import type { PageTools } from '../../tools';
import { oneOf, type Viewer } from '../../viewer';
import { failureOf } from './failure';
import { bulkPath, readRunQuery, RUN_FORM } from './query';
import { RecentPart, RecentRuns } from './recent';
import { Run } from './run';

const RECENT_MAX = 30;

/** Decisions on many tasks at once: the preview, the progress, the results; and what was decided so lately. */
export function serveBulk(pages: Pages, { bulk }: Pick<PageTools, 'bulk'>): void {
  const show = async (visit: Visit, failure: Failure | null = null): Promise<Shown> => {
    const { viewer, params, query, wantsPart } = visit;
    const run = await bulk.read(params('id'));
    if (!run) return missingRun(viewer);
    const content = <Run viewer={viewer} run={run} query={readRunQuery(query)} failure={failure} />;
    if (wantsPart) return part(content);
    const title = viewer.words.bulk.runTitle(viewer.words.bulk.actions[run.action], run.total);
    return page(title, content, { httpStatus: failure?.refusal.httpStatus ?? 200 });
  };

  pages.get('/tasks/bulk', 'viewer', async ({ viewer, wantsPart }) => {
    const runs = await bulk.recent(RECENT_MAX);
    if (wantsPart) return part(<RecentPart viewer={viewer} runs={runs} />);
    return page(viewer.words.bulk.recent, <RecentRuns viewer={viewer} runs={runs} />);
  });
  pages.get('/tasks/bulk/:id', 'viewer', (visit) => show(visit));
  pages.post('/tasks/bulk/:id', 'dispatcher', async (posted) => {
    const id = posted.params('id');
    const act = oneOf(ACTS, posted.form.get('act') ?? undefined);
    const done = act === null ? null : await carryOut(bulk, act, posted);
    if (done === null || done.ok) return elsewhere(bulkPath(id), act && DONE[act]);
    return show(posted, failureOf(done.refusal, { form: RUN_FORM, entered: posted.form }));
  });
}

const ACTS = ['start', 'resume', 'abort'] as const;
type Act = (typeof ACTS)[number];
const DONE = { start: 'bulk_started', resume: 'bulk_resumed', abort: 'bulk_aborted' } as const;

function carryOut(bulk: PageTools['bulk'], act: Act, { params, actor }: Posted) {
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

function missingRun({ words }: Viewer): Shown {
  const { missing, backToTasks } = words.bulk;
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
