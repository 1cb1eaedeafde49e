import { ROUTES } from '../contracts/operator-routes';
import { auditOf } from '../domain/audit';
import { conflict, unknown } from '../domain/refusal';
import type { Task } from '../contracts/records';
import type { TaskStore, TowStore } from '../workflow/ports';
import { done, effectOf, refused, type Effect } from '../workflow/effect';
import { reportOfTask } from '../workflow/tow-view';
import type { ViolationStore } from '../workflow/violation-port';
import { violationViewOf } from '../workflow/violation-view';
import type { Server } from './serve';

const noSuchTask = unknown('task_not_found', 'There is no such open task.').refusal;

/** What people must decide. A task that does not offer "resolve" is closed by deciding, not here. */
export function serveTasks(
  server: Server,
  { tasks, tows, violations }: { tasks: TaskStore; tows: TowStore; violations: Pick<ViolationStore, 'read'> },
): void {
  const view = async (task: Task) => {
    const record = task.report_id && task.towing_reference_id ? await tows.read(task.towing_reference_id) : null;
    const violation = task.violation_id ? await violations.read(task.violation_id) : null;
    return {
      ...task,
      report: record && reportOfTask(record, task.report_id),
      violation: violation && violationViewOf(violation),
    };
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
  server.change(ROUTES.resolveTask, ({ params, actor, body }) => {
    const id = params('task_id');
    return {
      effect: async (remember): Promise<Effect<object>> => {
        const task = await tasks.read(id);
        if (!task) return refused(noSuchTask);
        const resolved = await view(task);
        if (!task.actions.includes('resolve')) {
          const { refusal } = conflict(
            'decision_needed',
            `Decide on it: ${task.actions.join(', ') || 'it closes by itself'}.`,
          );
          return refused(refusal);
        }
        const act = {
          audit: auditOf(actor, 'task.resolved', {
            on: { task_id: id, ...subjectOf(task) },
            why: body.reason,
            what: { task_type: task.type },
          }),
          remember: remember && { ...remember, answer: JSON.stringify(resolved) },
        };
        const effect = effectOf(await tasks.resolve(task, act), noSuchTask);
        return effect.kind === 'done' ? done(resolved) : effect;
      },
    };
  });
}

function subjectOf({ towing_reference_id, violation_id }: Task) {
  return {
    ...(towing_reference_id === undefined ? {} : { towing_reference_id }),
    ...(violation_id === undefined ? {} : { violation_id }),
  };
}
