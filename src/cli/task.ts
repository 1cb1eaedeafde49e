import type { Command } from 'commander';
import { answerOf, type Task } from '../client';
import { resolveBody, tasksQuery } from '../contracts/operator';
import { ORDERS } from '../contracts/paging';
import { shownEach } from './bulk';
import { LIST_OPTIONS, shownList } from './listing';
import { addVerb, checked, option, type Tools } from './verb';
import { riyadhTime, shown, table } from './words';

/** `towhook task …` */
export function addTask(program: Command, tools: Tools): void {
  const task = program
    .command('task')
    .summary('what a person must decide')
    .description(
      'What a person must decide. A task about a report or a violation is closed by deciding on it (`towhook report`,\n' +
        '`towhook violation`); one that offers resolve by `task resolve`.',
    );
  addVerb(task, tools, {
    usage: 'list',
    summary: 'open tasks, newest first',
    options: [
      option('--type <type>', 'only those of this type, such as report_refused'),
      option('--order <order>', 'by when they were opened', ORDERS),
      ...LIST_OPTIONS,
    ],
    examples: ['towhook task list --order oldest', 'towhook task list --type report_refused --all --json'],
    act: (call) => {
      const { type, order } = checked(tasksQuery, { type: call.text('type'), order: call.text('order') });
      return shownList(
        call,
        (page) => answerOf(call.client.GET('/api/tasks', { params: { query: { type, order, ...page } } })),
        taskTable,
      );
    },
  });
  addVerb(task, tools, {
    usage: 'resolve <tasks...>',
    summary: 'close tasks that need no decision',
    options: [option('--reason <text>', 'what was done about it')],
    examples: ['towhook task resolve invoice_mismatch --reason "corrected in the books"'],
    changes: true,
    act: (call) => {
      const body = checked(resolveBody, { reason: call.text('reason') });
      return shownEach(call, call.rest(0), {
        what: 'tasks',
        act: (id) => {
          const params = { path: { task_id: id }, header: call.header };
          return answerOf(call.client.POST('/api/tasks/{task_id}/resolve', { params, body }));
        },
        lines: (done) => done.map(({ id }) => `${id} is closed.`),
      });
    },
  });
}

function taskTable(tasks: readonly Task[]): string[] {
  return table(
    ['task', 'about', 'opened (Riyadh)', 'what may be done', 'why'],
    tasks.map((task) => [
      task.id,
      shown(task.towing_reference_id ?? task.violation_id ?? task.operation),
      riyadhTime(task.opened_at ?? null),
      task.actions.join(', '),
      task.message,
    ]),
  );
}
