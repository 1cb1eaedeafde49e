import type { Command } from 'commander';
import { reasonBody, resolveBody } from '../contracts/operator';
import { ROUTES } from '../contracts/operator-routes';
import type { ShadowItem } from '../contracts/shadow';
import { addCommand, checked, option, type CommandTools } from './command';
import { riyadhTime, table, textOrDash } from './format';
import { LIST_OPTIONS, listOutput } from './list-command';
import { towOutput } from './tow-lines';
import { violationOutput } from './violation-lines';

const TOW = 'TW-20261120-ABC123';
const VIOLATION = '5f0c7a1e-3b2d-4c1a-9e8f-7a6b5c4d3e2f';
const REASON = option('--reason <text>', 'reason for the audit log');

/** `towhook shadow …` */
export function addShadow(program: Command, tools: CommandTools): void {
  const shadow = program
    .command('shadow')
    .summary('tows and violations of a shadow time: what would have been sent, send it or decline it');
  addCommand(shadow, tools, {
    usage: 'list',
    summary: 'list held tows and violations with the number of calls that would have been made',
    options: [...LIST_OPTIONS],
    examples: ['towhook shadow list', 'towhook shadow list --json'],
    run: (call) => listOutput(call, (query) => call.client.call(ROUTES.readShadow, { query }), shadowTable),
  });
  addCommand(shadow, tools, {
    usage: 'export',
    summary: 'print the calls that would have been made as CSV',
    examples: ['towhook shadow export'],
    run: async (call) => {
      const csv = await call.client.call(ROUTES.exportShadow);
      const text = await csv.text();
      return { json: { csv: text }, lines: text.trimEnd().split(/\r?\n/) };
    },
  });
  addTowDecisions(shadow, tools);
  addViolationDecisions(shadow, tools);
}

function addTowDecisions(shadow: Command, tools: CommandTools): void {
  addCommand(shadow, tools, {
    usage: 'send <reference>',
    summary: 'send a tow of the shadow time after all: its reports leave in order',
    options: [REASON],
    examples: [`towhook shadow send ${TOW}`],
    changes: true,
    run: async (call) => {
      const params = { towing_reference_id: call.argument(0) };
      const body = checked(resolveBody, { reason: call.text('reason') });
      return towOutput(await call.client.call(ROUTES.sendShadowTow, { params, body, key: call.key }));
    },
  });
  addCommand(shadow, tools, {
    usage: 'decline <reference>',
    summary: 'never send a tow of the shadow time: its reports are waived, also those of later facts',
    options: [REASON],
    examples: [`towhook shadow decline ${TOW} --reason "reported by hand"`],
    changes: true,
    run: async (call) => {
      const params = { towing_reference_id: call.argument(0) };
      const body = checked(reasonBody, { reason: call.text('reason') });
      return towOutput(await call.client.call(ROUTES.declineShadowTow, { params, body, key: call.key }));
    },
  });
}

function addViolationDecisions(shadow: Command, tools: CommandTools): void {
  addCommand(shadow, tools, {
    usage: 'send-violation <violation>',
    summary: 'send a violation of the shadow time after all',
    options: [REASON],
    examples: [`towhook shadow send-violation ${VIOLATION}`],
    changes: true,
    run: async (call) => {
      const params = { violation_id: call.argument(0) };
      const body = checked(resolveBody, { reason: call.text('reason') });
      return violationOutput(await call.client.call(ROUTES.sendShadowViolation, { params, body, key: call.key }));
    },
  });
  addCommand(shadow, tools, {
    usage: 'decline-violation <violation>',
    summary: 'never send a violation of the shadow time: it is waived',
    options: [REASON],
    examples: [`towhook shadow decline-violation ${VIOLATION} --reason "reported by hand"`],
    changes: true,
    run: async (call) => {
      const params = { violation_id: call.argument(0) };
      const body = checked(reasonBody, { reason: call.text('reason') });
      return violationOutput(await call.client.call(ROUTES.declineShadowViolation, { params, body, key: call.key }));
    },
  });
}

function shadowTable(items: readonly ShadowItem[]): string[] {
  return table(
    ['kind', 'id', 'violation', 'state', 'since (Riyadh)', 'calls'],
    items.map(({ kind, id, violation_reference_id, state, since, calls }) => [
      kind,
      id,
      textOrDash(violation_reference_id),
      state,
      riyadhTime(since),
      String(calls.length),
    ]),
  );
}
