import { ROUTES } from '../contracts/operator-routes';
import type { Task } from '../contracts/records';
import type { TaskStore, TowStore, ViolationStore } from '../workflow/ports';
import { resolveTask } from '../workflow/resolve-task';
import { taskViewOf } from '../workflow/views';
import type { RecordStore } from '../workflow/transaction-port';
import type { ApiServer } from './api-server';

export interface TaskRouteTools {
  readonly tasks: TaskStore;
  readonly records: RecordStore;
  readonly tows: Pick<TowStore, 'read'>;
  readonly violations: Pick<ViolationStore, 'read'>;
}

/** Tasks. Only a task that offers `resolve` is closed here; a decision closes any other. */
export function serveTasks(server: ApiServer, tools: TaskRouteTools): void {
  const { tasks, tows, violations } = tools;
  const view = async (task: Task) => {
    const ref = task.report_id === undefined ? undefined : task.towing_reference_id;
    const [tow, violation] = await Promise.all([
      ref === undefined ? null : tows.read(ref),
      task.violation_id === undefined ? null : violations.read(task.violation_id),
    ]);
    return taskViewOf(task, { tow, violation });
  };
  server.read(ROUTES.listTasks, async ({ query }) => {
    const page = await tasks.list({
      cursor: query.cursor ?? null,
      limit: query.limit,
      order: query.order,
      filter: { type: query.type },
    });
    return { items: await Promise.all(page.items.map(view)), next_cursor: page.nextCursor };
  });
  server.change(ROUTES.resolveTask, ({ params, actor, body: { reason } }) => ({
    effect: (idempotency) => resolveTask(tools, { id: params('task_id'), reason, actor, idempotency }),
  }));
}
