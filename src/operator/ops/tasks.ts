import { ROUTES } from '../../contracts/operator-routes';
import { WEBHOOK_READERS } from '../../contracts/webhook/read-webhook';
import { resolveTask } from '../../workflow/ops/ops-actions';
import { subjectsOf } from '../../workflow/ops/task-subjects';
import { taskViewOf } from '../../workflow/tow/views';
import type { ApiServer } from '../api-server';
import type { OperatorTools } from '../tools';
import { abortRun, previewRun, runViewOf, startRun } from '../../workflow/run/runs';

/** Tasks. Only a task that offers `resolve` is closed here; a decision closes any other. */
export function serveTasks(server: ApiServer, tools: OperatorTools): void {
  const { tasks } = tools;
  server.list(ROUTES.listTasks, async ({ query }) => {
    const page = await tasks.list({
      cursor: query.cursor ?? null,
      limit: query.limit,
      order: query.order,
      filter: { type: query.type, kind: query.kind, towingReferenceId: query.towing_reference_id },
    });
    const subjects = await subjectsOf(page.items, tools);
    return { items: page.items.map((task) => taskViewOf(task, subjects(task))), next_cursor: page.nextCursor };
  });
  server.read(ROUTES.readTask, async ({ params }) => {
    const task = await tasks.read(params('task_id'));
    return task && taskViewOf(task, (await subjectsOf([task], tools))(task));
  });
  server.read(ROUTES.countTasks, () => tasks.counts());
  server.change(ROUTES.resolveTask, ({ params, actor, body: { reason } }) => ({
    effect: (idempotency) => resolveTask(tools, { id: params('task_id'), reason, actor, idempotency }),
  }));
}

const RECENT_MAX = 30;

/** Runs: one action on many tasks or deliveries. */
export function serveRuns(server: ApiServer, tools: OperatorTools): void {
  const { runs } = tools;
  server.change(ROUTES.previewRun, ({ body: asked, actor }) => ({
    effect: (idempotency) => previewRun({ ...tools, readers: WEBHOOK_READERS }, { asked, actor, idempotency }),
  }));
  server.read(ROUTES.listRuns, async () => ({ items: (await runs.recent(RECENT_MAX)).map(runViewOf) }));
  server.read(ROUTES.readRun, async ({ params }) => {
    const run = await runs.read(params('run_id'));
    return run && runViewOf(run);
  });
  server.list(ROUTES.listRunItems, async ({ params, query }) => {
    const { outcome = null, cursor = null, limit } = query;
    const page = await runs.items(params('run_id'), { outcome, cursor, limit });
    return page && { items: page.items, next_cursor: page.nextCursor };
  });
  server.change(ROUTES.startRun, ({ params, actor }) => ({
    effect: (idempotency) => startRun(tools, { id: params('run_id'), actor, idempotency }),
  }));
  server.change(ROUTES.abortRun, ({ params, actor }) => ({
    effect: (idempotency) => abortRun(tools, { id: params('run_id'), actor, idempotency }),
  }));
}
