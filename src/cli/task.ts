import type { Command } from 'commander';
import { resolveBody, tasksQuery } from '../contracts/operator';
import { ROUTES } from '../contracts/operator-routes';
import { SORT_ORDERS } from '../contracts/paging';
import type { Task } from '../contracts/records';
import { runForEach } from './run-each';
import { LIST_OPTIONS, listOutput } from './list-command';
import { addCommand, checked, option, type CommandTools } from './command';
import { riyadhTime, textOrDash, table } from './format';

/** `towhook task …` */
export function addTask(program: Command, tools: CommandTools): void {
  const task = program
    .command('task')
    .summary('tasks: what a person must decide')
    .description(
      'What a person must decide. A task about a report or a violation closes with the decision (`towhook report`,\n' +
        '`towhook violation`); a task that offers resolve closes with `task resolve`.',
    );
  addCommand(task, tools, {
    usage: 'list',
    summary: 'list open tasks, newest first',
    options: [
      option('--type <type>', 'only tasks of this type, such as report_refused'),
      option('--order <order>', 'order by opening time', SORT_ORDERS),
      ...LIST_OPTIONS,
    ],
    examples: ['towhook task list --order oldest', 'towhook task list --type report_refused --all --json'],
    run: (call) => {
      const { type, order } = checked(tasksQuery, { type: call.text('type'), order: call.text('order') });
      return listOutput(
        call,
        (page) => call.client.call(ROUTES.listTasks, { query: { type, order, ...page } }),
        taskTable,
      );
    },
  });
  addCommand(task, tools, {
    usage: 'resolve <tasks...>',
    summary: 'close tasks that need no further decision',
    options: [option('--reason <text>', 'what was done')],
    examples: ['towhook task resolve invoice_mismatch.TW-20261120-ABC123 --reason "corrected in the books"'],
    changes: true,
    run: (call) => {
      const body = checked(resolveBody, { reason: call.text('reason') });
      return runForEach(call, call.rest(0), {
        what: 'tasks',
        run: (id) => {
          const params = { task_id: id };
          return call.client.call(ROUTES.resolveTask, { params, body, key: call.key });
        },
        lines: (done) => done.map(({ id }) => `${id} is closed.`),
      });
    },
  });
}

function taskTable(tasks: readonly Task[]): string[] {
  return table(
    ['task', 'about', 'opened (Riyadh)', 'actions', 'message'],
    tasks.map((task) => [
      task.id,
      textOrDash(task.towing_reference_id ?? task.violation_id ?? task.operation),
      riyadhTime(task.opened_at ?? null),
      task.actions.join(', '),
      task.message,
    ]),
  );
}
