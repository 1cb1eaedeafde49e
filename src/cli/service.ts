import type { Command } from 'commander';
import type { DifferenceView } from '../contracts/differences';
import { resolveBody } from '../contracts/operator';
import { ROUTES } from '../contracts/operator-routes';
import type { ServiceView } from '../contracts/seen-service';
import { addCommand, checked, option, type CommandTools } from './command';
import { riyadhTime, section, table, textOrDash } from './format';

const DIFFERENCE = 'answer.started.1c2d3e4f';

/** `towhook service …` */
export function addService(program: Command, tools: CommandTools): void {
  const service = program
    .command('service')
    .summary('the service as it was seen, and how it differs from its document');
  addCommand(service, tools, {
    usage: 'show',
    summary: 'show the calls of the last hour, and the fields that differ from the document',
    examples: ['towhook service show', 'towhook service show --json'],
    run: async (call) => {
      const seen = await call.client.call(ROUTES.readService);
      return { json: seen, lines: serviceLines(seen) };
    },
  });
  addCommand(service, tools, {
    usage: 'differences',
    summary: 'list the kinds of difference with their count, and who declared them expected',
    examples: ['towhook service differences'],
    run: async (call) => {
      const differences = await call.client.call(ROUTES.listDifferences);
      return { json: differences, lines: differenceTable(differences.items) };
    },
  });
  addCommand(service, tools, {
    usage: 'expect <difference>',
    summary: 'declare a kind of difference expected: its task closes, and later messages of it are only counted',
    options: [option('--reason <text>', 'reason for the audit log')],
    examples: [`towhook service expect ${DIFFERENCE} --reason "the service has confirmed it"`],
    changes: true,
    run: async (call) => {
      const params = { difference_id: call.argument(0) };
      const body = checked(resolveBody, { reason: call.text('reason') });
      const expected = await call.client.call(ROUTES.expectDifference, { params, body, key: call.key });
      return { json: expected, lines: differenceTable([expected]) };
    },
  });
}

function serviceLines({ operations, messages }: ServiceView): string[] {
  const differing = messages.flatMap(({ source, name, fields }) =>
    fields
      .filter(({ mark }) => mark !== 'none')
      .map(({ field, documented, seen, mark }) => [
        `${source} ${name}`,
        field,
        mark,
        textOrDash(documented === null ? null : documented.join(', ')),
        textOrDash(seen.map(({ type }) => type).join(', ')),
      ]),
  );
  const milliseconds = (value: number | null) => textOrDash(value === null ? null : String(value));
  return [
    ...section(
      'Calls',
      table(
        ['operation', 'calls', 'statuses', 'p50 ms', 'p95 ms'],
        operations.map(({ operation, calls, statuses, p50_ms, p95_ms }) => [
          operation,
          String(calls),
          textOrDash(statuses.map(({ status, count }) => `${status}: ${count}`).join(', ')),
          milliseconds(p50_ms),
          milliseconds(p95_ms),
        ]),
      ),
    ),
    ...section('Fields that differ', table(['message', 'field', 'how', 'documented', 'seen'], differing)),
  ];
}

function differenceTable(differences: readonly DifferenceView[]): string[] {
  return table(
    ['difference', 'rules', 'count', 'last seen (Riyadh)', 'expected by'],
    differences.map(({ id, rules, count, last_seen_at, expected_by }) => [
      id,
      rules.join('; '),
      String(count),
      riyadhTime(last_seen_at),
      textOrDash(expected_by),
    ]),
  );
}
