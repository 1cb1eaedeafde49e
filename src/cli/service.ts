import type { Command } from 'commander';
import type { DifferenceView, DifferingReport } from '../contracts/differences';
import { resolveBody } from '../contracts/operator';
import { ROUTES } from '../contracts/operator-routes';
import type { ServiceView } from '../contracts/seen-service';
import { addCommand, checked, option, type CommandTools, type Invocation } from './command';
import { riyadhTime, section, table, textOrDash } from './format';
import { LIST_OPTIONS, listOutput, readAllPages } from './list-command';
import { runForEach } from './run-each';

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
    summary: 'list the kinds of difference with their count and decision',
    examples: ['towhook service differences'],
    run: async (call) => {
      const differences = await call.client.call(ROUTES.listDifferences);
      return { json: differences, lines: differenceTable(differences.items) };
    },
  });
  addCommand(service, tools, {
    usage: 'reports <difference>',
    summary: 'list the reports and violations that were accepted with a kind of difference, newest first',
    options: [...LIST_OPTIONS],
    examples: [`towhook service reports ${DIFFERENCE}`],
    run: (call) => {
      const params = { difference_id: call.argument(0) };
      return listOutput(call, (query) => call.client.call(ROUTES.listDifferingReports, { params, query }), reportTable);
    },
  });
  addCommand(service, tools, {
    usage: 'send-again <difference>',
    summary: 'send all reports and violations again that were accepted with a kind of difference, oldest first',
    options: [option('--preview', 'send nothing; list what would be sent')],
    examples: [`towhook service send-again ${DIFFERENCE} --preview`, `towhook service send-again ${DIFFERENCE}`],
    changes: true,
    run: async (call) => {
      const params = { difference_id: call.argument(0) };
      const newest = await readAllPages(call, (query) =>
        call.client.call(ROUTES.listDifferingReports, { params, query }),
      );
      const reports = newest.toReversed();
      if (call.flag('preview')) return { json: { items: reports }, lines: reportTable(reports) };
      const byName = new Map(reports.map((report) => [nameOf(report), report]));
      return runForEach(call, [...byName.keys()], {
        what: 'reports',
        run: async (name) => {
          const report = byName.get(name);
          if (report) await sendAgain(call, report);
          return name;
        },
        lines: (done) => done.map((name) => `${name} is sent again.`),
      });
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

function nameOf({ towing_reference_id: tow, report_id: report, violation_id: violation }: DifferingReport): string {
  return violation ?? `${tow} ${report}`;
}

async function sendAgain(call: Invocation, report: DifferingReport): Promise<unknown> {
  const { towing_reference_id, report_id, violation_id } = report;
  if (violation_id !== null) {
    const params = { violation_id };
    return call.client.call(ROUTES.retryViolation, { params, key: call.key });
  }
  const params = { towing_reference_id: towing_reference_id ?? '', report_id: report_id ?? '' };
  return call.client.call(ROUTES.retryReport, { params, key: call.key });
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
    ['difference', 'rules', 'count', 'last seen (Riyadh)', 'decision'],
    differences.map(({ id, rules, count, last_seen_at, decision }) => [
      id,
      rules.join('; '),
      String(count),
      riyadhTime(last_seen_at),
      decision,
    ]),
  );
}

function reportTable(reports: readonly DifferingReport[]): string[] {
  return table(
    ['accepted (Riyadh)', 'tow', 'report', 'violation'],
    reports.map(({ accepted_at, towing_reference_id, report_id, violation_id }) => [
      riyadhTime(accepted_at),
      textOrDash(towing_reference_id),
      textOrDash(report_id),
      textOrDash(violation_id),
    ]),
  );
}
