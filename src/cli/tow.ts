import type { Command } from 'commander';
import { answerOf } from '../client';
import { towsQuery } from '../contracts/operator';
import { ORDERS } from '../contracts/paging';
import { linkBody } from '../contracts/violations';
import { TOW_STATES } from '../domain/vocabulary';
import { LIST_OPTIONS, shownList } from './listing';
import { addTowDispatch } from './tow-dispatch';
import { addTowFacts } from './tow-facts';
import { shownTow, towTable } from './tow-lines';
import { addTowPhotos } from './tow-photos';
import { addVerb, checked, option, type Tools } from './verb';

/** `towhook tow …` */
export function addTow(program: Command, tools: Tools): void {
  const tow = program.command('tow').summary('tows: look, say what happened, dispatch').description(ABOUT);
  addVerb(tow, tools, {
    usage: 'list',
    summary: 'tows, newest request first',
    options: [
      option('--state <state>', 'only those in this state', TOW_STATES),
      option('--q <text>', 'beginning of a reference, a plate or an invoice number'),
      option('--attention', 'only those that need a person'),
      option('--unsent', 'only those that owe the service a report'),
      option('--overdue', 'only those that stand still for too long'),
      option('--crew <name>', 'only those of this crew').conflicts('nobody'),
      option('--nobody', 'only those of no crew'),
      option('--order <order>', 'by their requests', ORDERS),
      ...LIST_OPTIONS,
    ],
    examples: [
      'towhook tow list --state started',
      'towhook tow list --attention --json',
      'towhook tow list --q "ABC 1"',
      'towhook tow list --overdue --nobody --order oldest',
    ],
    act: (call) => {
      const flag = (name: string) => (call.flag(name) ? 'true' : undefined);
      const { state, q, attention, unsent, overdue, crew, order } = checked(towsQuery, {
        state: call.text('state'),
        q: call.text('q'),
        attention: flag('attention'),
        unsent: flag('unsent'),
        overdue: flag('overdue'),
        crew: call.flag('nobody') ? '' : call.text('crew'),
        order: call.text('order'),
      });
      const filter = { state, q, attention, unsent, overdue, crew, order };
      return shownList(
        call,
        (page) => answerOf(call.client.GET('/api/tows', { params: { query: { ...filter, ...page } } })),
        towTable,
      );
    },
  });
  addVerb(tow, tools, {
    usage: 'show <reference>',
    summary: 'one tow with its facts, reports, invoices and tasks',
    examples: ['towhook tow show TW-20261120-ABC123'],
    act: async (call) => {
      const path = { towing_reference_id: call.argument(0) };
      return shownTow(await answerOf(call.client.GET('/api/tows/{towing_reference_id}', { params: { path } })));
    },
  });
  addTowFacts(tow, tools);
  addTowDispatch(tow, tools);
  addTowPhotos(tow, tools);
  addVerb(tow, tools, {
    usage: 'link <reference> <violation>',
    summary: 'say which of our violations a tow comes from, where it was not found by itself',
    examples: ['towhook tow link TW-20261120-ABC123 patrol-7-0042'],
    changes: true,
    act: async (call) => {
      const path = { towing_reference_id: call.argument(0) };
      const body = checked(linkBody, { violation_id: call.argument(1) });
      const params = { path, header: call.header };
      return shownTow(await answerOf(call.client.POST('/api/tows/{towing_reference_id}/violation', { params, body })));
    },
  });
}

const ABOUT = `Tows, by the service's reference (TW-…).

What is said here is recorded at once and reported to the service by a worker: \`tow show\` tells how far the report is.
Moments are ISO 8601 with an offset (2026-11-20T10:15:00+03:00); left out, it happened now.`;
