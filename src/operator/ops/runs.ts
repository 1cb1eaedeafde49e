import { ROUTES } from '../../contracts/operator-routes';
import { abortRun, previewRun, runViewOf, startRun, type RunTools } from '../../workflow/run/runs';
import type { ApiServer } from '../api-server';

const RECENT_MAX = 30;

/** Runs: one action on many tasks or deliveries. */
export function serveRuns(server: ApiServer, tools: RunTools): void {
  const { runs } = tools;
  server.change(ROUTES.previewRun, ({ body: asked, actor }) => ({
    effect: (idempotency) => previewRun(tools, { asked, actor, idempotency }),
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
