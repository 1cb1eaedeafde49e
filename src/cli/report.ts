import type { Command } from 'commander';
import { correctionBody } from '../contracts/facts';
import { reasonBody } from '../contracts/operator';
import { ROUTES } from '../contracts/operator-routes';
import { FACTS, type FactTable } from '../domain/facts';
import { FACT_EVENTS, type FactEvent } from '../domain/vocabulary';
import { bodyOptions, bodyValues } from './body-options';
import { towOutput } from './tow-lines';
import { addCommand, checked, option, type Invocation, type CommandTools } from './command';

const REPORT = 'TW-20261120-ABC123 started-1';
const REASON = option('--reason <text>', 'reason for the audit log; never sent to the service');

const paramsOf = (call: Invocation) => ({ towing_reference_id: call.argument(0), report_id: call.argument(1) });

/** `towhook report …`: decisions about a report that the service refused or did not answer. */
export function addReport(program: Command, tools: CommandTools): void {
  const report = program
    .command('report')
    .summary('reports to the service: decide about a stuck one')
    .description(
      'Reports to the service. `towhook tow show` lists those of a tow, `towhook task list` those that are stuck.',
    );
  addCommand(report, tools, {
    usage: 'retry <tow> <report>',
    summary: 'send a report again now; an accepted one only while a task asks about its answer',
    examples: [`towhook report retry ${REPORT}`],
    changes: true,
    run: async (call) => {
      return towOutput(await call.client.call(ROUTES.retryReport, { params: paramsOf(call), key: call.key }));
    },
  });
  addCommand(report, tools, {
    usage: 'correct <tow> <report>',
    summary: 'change fields of a report and send it; its kind determines the fields',
    options: bodyOptions(correctionBody, (field) => `of ${kindsWith(field).join(' and ')}`),
    examples: [`towhook report correct ${REPORT} --plate-number "ABC 1234"`],
    changes: true,
    run: async (call) => {
      const body = checked(correctionBody, bodyValues(correctionBody, call));
      return towOutput(await call.client.call(ROUTES.correctReport, { params: paramsOf(call), body, key: call.key }));
    },
  });
  addCommand(report, tools, {
    usage: 'waive <tow> <report>',
    summary: 'give a report up, so that the next one is sent',
    options: [REASON],
    examples: [`towhook report waive ${REPORT} --reason "reported by phone"`],
    changes: true,
    run: async (call) => {
      const body = checked(reasonBody, { reason: call.text('reason') });
      return towOutput(await call.client.call(ROUTES.waiveReport, { params: paramsOf(call), body, key: call.key }));
    },
  });
  addCommand(report, tools, {
    usage: 'accept <tow> <report>',
    summary: 'mark a report as accepted, because you have seen it at the service',
    options: [REASON],
    examples: [`towhook report accept ${REPORT} --reason "seen in the service's own pages"`],
    changes: true,
    run: async (call) => {
      const body = checked(reasonBody, { reason: call.text('reason') });
      return towOutput(await call.client.call(ROUTES.acceptReport, { params: paramsOf(call), body, key: call.key }));
    },
  });
}

/** The kinds of report of which a field can be corrected. */
function kindsWith(field: string): FactEvent[] {
  const table: FactTable = FACTS;
  return FACT_EVENTS.filter((event) => table[event].correctable.includes(field));
}
