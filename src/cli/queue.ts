import type { Command } from 'commander';
import { answerOf, type Queue } from '../client';
import { resolveBody } from '../contracts/operator';
import { addVerb, checked, option, type Call, type Tools } from './verb';
import { shown, table } from './words';

const REASON = option('--reason <text>', 'why, for the audit');

const paramsOf = (call: Call) => ({ path: { queue: call.argument(0) }, header: call.header });

/** `towhook queue …` */
export function addQueue(program: Command, tools: Tools): void {
  const queue = program
    .command('queue')
    .summary('queues of the workers: figures, rest, work')
    .description(
      'Queues of the workers: deliveries, reports, violations, bulk. What is due waits while a queue rests; nothing is lost.',
    );
  addVerb(queue, tools, {
    usage: 'stats',
    summary: 'jobs waiting, active and failed, and the records due for work',
    examples: ['towhook queue stats', 'towhook queue stats --json'],
    act: async (call) => {
      const queues = await answerOf(call.client.GET('/api/queues'));
      return { json: queues, lines: queueTable(queues) };
    },
  });
  addVerb(queue, tools, {
    usage: 'pause <queue>',
    summary: 'let its workers rest',
    options: [REASON],
    examples: ['towhook queue pause reports --reason "the service is being moved"'],
    changes: true,
    act: async (call) => {
      const body = checked(resolveBody, { reason: call.text('reason') });
      const paused = await answerOf(call.client.POST('/api/queues/{queue}/pause', { params: paramsOf(call), body }));
      return { json: paused, lines: queueTable([paused]) };
    },
  });
  addVerb(queue, tools, {
    usage: 'resume <queue>',
    summary: 'let its workers work again',
    options: [REASON],
    examples: ['towhook queue resume reports'],
    changes: true,
    act: async (call) => {
      const body = checked(resolveBody, { reason: call.text('reason') });
      const resumed = await answerOf(call.client.POST('/api/queues/{queue}/resume', { params: paramsOf(call), body }));
      return { json: resumed, lines: queueTable([resumed]) };
    },
  });
}

function queueTable(queues: readonly Queue[]): string[] {
  return table(
    ['queue', 'waiting', 'active', 'failed', 'due', 'oldest', 'rests'],
    queues.map((queue) => [
      queue.name,
      String(queue.waiting),
      String(queue.active),
      String(queue.failed),
      String(queue.due),
      `${(queue.oldest_age_ms / 1000).toFixed(1)} s`,
      shown(queue.paused),
    ]),
  );
}
