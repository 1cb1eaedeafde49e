import { ROUTES } from '../contracts/operator-routes';
import { conflict, unknown } from '../domain/refusal';
import type { Task } from '../contracts/records';
import type { TaskStore } from '../workflow/ports';
import { effectOf, type Effect } from '../workflow/progress';
import { answerText } from './idempotency';
import type { Server } from './serve';

const noSuchTask = {
  kind: 'refused',
  refusal: unknown('task_not_found', 'There is no such open task.').refusal,
} as const;

/** What people must decide. A task that offers more than "resolve" is closed by deciding, not here. */
export function serveTasks(server: Server, tasks: TaskStore): void {
  server.read(ROUTES.listTasks, async ({ query }) => {
    const page = await tasks.list({ cursor: query.cursor ?? null, limit: query.limit });
    return { items: page.items, next_cursor: page.nextCursor };
  });
  server.change(ROUTES.resolveTask, ({ params, actor, body }) => {
    const id = params('task_id');
    let resolved: Task | null = null;
    return {
      effect: async (remember): Promise<Effect> => {
        const task = await tasks.read(id);
        if (!task) return noSuchTask;
        resolved = task;
        if (!task.actions.includes('resolve')) {
          const { refusal } = conflict(
            'decision_needed',
            `Decide on it: ${task.actions.join(', ') || 'it closes by itself'}.`,
          );
          return { kind: 'refused', refusal };
        }
        const resolution = {
          by: actor.name,
          reason: body.reason ?? null,
          remember: remember && { ...remember, answer: answerText(ROUTES.resolveTask.status, task) },
        };
        const effect = effectOf(await tasks.resolve(task, resolution));
        return effect === 'stale' || effect.kind === 'refused' ? noSuchTask : effect;
      },
      answer: () => Promise.resolve(resolved),
    };
  });
}
