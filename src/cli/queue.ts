import type { Command } from 'commander';
import { resolveBody, type QueueView } from '../contracts/operator';
import { ROUTES } from '../contracts/operator-routes';
import { addCommand, checked, option, type Invocation, type CommandTools } from './command';
import { textOrDash, table } from './format';

const REASON = option('--reason <text>', 'reason for the audit log');

const paramsOf = (call: Invocation) => ({ queue: call.argument(0) });

/** `towhook queue …` */
export function addQueue(program: Command, tools: CommandTools): void {
  const queue = program
    .command('queue')
    .summary('queues of the workers: counts, pause, resume')
    .description(
      'Queues of the workers: deliveries, reports, violations, bulk. Work waits while a queue is paused; nothing is lost.',
    );
  addCommand(queue, tools, {
    usage: 'stats',
    summary: 'show waiting and active jobs, those that failed within 24 hours, and the number of due records',
    examples: ['towhook queue stats', 'towhook queue stats --json'],
    run: async (call) => {
      const queues = await call.client.call(ROUTES.listQueues);
      return { json: queues, lines: queueTable(queues) };
    },
  });
  addCommand(queue, tools, {
    usage: 'pause <queue>',
    summary: 'pause a queue',
    options: [REASON],
    examples: ['towhook queue pause reports --reason "the service is being moved"'],
    changes: true,
    run: async (call) => {
      const body = checked(resolveBody, { reason: call.text('reason') });
      const paused = await call.client.call(ROUTES.pauseQueue, { params: paramsOf(call), body, key: call.key });
      return { json: paused, lines: queueTable([paused]) };
    },
  });
  addCommand(queue, tools, {
    usage: 'resume <queue>',
    summary: 'resume a queue',
    options: [REASON],
    examples: ['towhook queue resume reports'],
    changes: true,
    run: async (call) => {
      const body = checked(resolveBody, { reason: call.text('reason') });
      const resumed = await call.client.call(ROUTES.resumeQueue, { params: paramsOf(call), body, key: call.key });
      return { json: resumed, lines: queueTable([resumed]) };
    },
  });
}

function queueTable(queues: readonly QueueView[]): string[] {
  return table(
    ['queue', 'waiting', 'active', 'failed', 'due', 'oldest', 'paused'],
    queues.map((queue) => [
      queue.name,
      String(queue.waiting),
      String(queue.active),
      String(queue.failed),
      String(queue.due),
      `${(queue.oldest_age_ms / 1000).toFixed(1)} s`,
      textOrDash(queue.paused),
    ]),
  );
}
