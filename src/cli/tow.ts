import type { Command } from 'commander';
import { towsQuery } from '../contracts/operator';
import { ROUTES } from '../contracts/operator-routes';
import { SORT_ORDERS } from '../contracts/paging';
import { linkBody } from '../contracts/violations';
import { TOW_STATES } from '../domain/vocabulary';
import { LIST_OPTIONS, listOutput } from './list-command';
import { addTowDispatch } from './tow-dispatch';
import { addTowFacts } from './tow-facts';
import { towOutput, towTable } from './tow-lines';
import { addTowPhotos } from './tow-photos';
import { addCommand, checked, option, type CommandTools } from './command';

/** `towhook tow …` */
export function addTow(program: Command, tools: CommandTools): void {
  const tow = program.command('tow').summary('tows: list, show, record facts, dispatch').description(ABOUT);
  addCommand(tow, tools, {
    usage: 'list',
    summary: 'list tows, newest request first',
    options: [
      option('--state <state>', 'only tows in this state', TOW_STATES),
      option('--q <text>', 'the beginning of a reference, plate or invoice number; at most the first 10,000 matches'),
      option('--attention', 'only tows with an open task'),
      option('--unsent', 'only tows with reports not yet sent'),
      option('--overdue', 'only tows that are overdue'),
      option('--crew <name>', 'only tows of this crew').conflicts('unassigned'),
      option('--unassigned', 'only tows without a crew'),
      option('--order <order>', 'order by request time', SORT_ORDERS),
      ...LIST_OPTIONS,
    ],
    examples: [
      'towhook tow list --state started',
      'towhook tow list --attention --json',
      'towhook tow list --q "ABC 1"',
      'towhook tow list --overdue --unassigned --order oldest',
    ],
    run: (call) => {
      const flag = (name: string) => (call.flag(name) ? 'true' : undefined);
      const { state, q, attention, unsent, overdue, crew, order } = checked(towsQuery, {
        state: call.text('state'),
        q: call.text('q'),
        attention: flag('attention'),
        unsent: flag('unsent'),
        overdue: flag('overdue'),
        crew: call.flag('unassigned') ? '' : call.text('crew'),
        order: call.text('order'),
      });
      const filter = { state, q, attention, unsent, overdue, crew, order };
      return listOutput(call, (page) => call.client.call(ROUTES.listTows, { query: { ...filter, ...page } }), towTable);
    },
  });
  addCommand(tow, tools, {
    usage: 'show <reference>',
    summary: 'show a tow with its facts, reports, invoices and tasks',
    examples: ['towhook tow show TW-20261120-ABC123'],
    run: async (call) => {
      const params = { towing_reference_id: call.argument(0) };
      return towOutput(await call.client.call(ROUTES.readTow, { params }));
    },
  });
  addTowFacts(tow, tools);
  addTowDispatch(tow, tools);
  addTowPhotos(tow, tools);
  addCommand(tow, tools, {
    usage: 'link <reference> <violation>',
    summary: 'link a tow to your violation, when it was not linked automatically',
    examples: ['towhook tow link TW-20261120-ABC123 patrol-7-0042'],
    changes: true,
    run: async (call) => {
      const params = { towing_reference_id: call.argument(0) };
      const body = checked(linkBody, { violation_id: call.argument(1) });
      return towOutput(await call.client.call(ROUTES.linkViolation, { params, body, key: call.key }));
    },
  });
}

const ABOUT = `Tows, by the service's reference (TW-…).

A fact is recorded at once; a worker reports it to the service. \`tow show\` shows the state of the report.
Times are ISO 8601 with an offset (2026-11-20T10:15:00+03:00); default: now.`;
