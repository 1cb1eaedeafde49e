import type { Command } from 'commander';
import * as dispatch from '../contracts/dispatch';
import { ROUTES } from '../contracts/operator-routes';
import { CREW_STEPS } from '../domain/dispatch';
import { UsageError } from './problems';
import { towOutput } from './tow-lines';
import { addCommand, checked, timestampOption, option, type Invocation, type CommandTools } from './command';

const REFERENCE = 'TW-20261120-ABC123';

const paramsOf = (call: Invocation) => ({ towing_reference_id: call.argument(0) });

/** The operator's own records of a tow, which are never sent to the service. */
export function addTowDispatch(tow: Command, tools: CommandTools): void {
  addCommand(tow, tools, {
    usage: 'assign <reference> [crew]',
    summary: 'assign a tow to a crew and a truck, or remove the assignment with --unassigned',
    options: [option('--truck <truck>', 'the truck'), option('--unassigned', 'remove the assignment')],
    examples: [`towhook tow assign ${REFERENCE} "Crew 4" --truck T-12`, `towhook tow assign ${REFERENCE} --unassigned`],
    changes: true,
    run: async (call) => {
      const crew = call.argument(1);
      if (call.flag('unassigned') === (crew !== '')) {
        throw new UsageError([{ field: 'crew', rule: 'is required, unless --unassigned is given' }]);
      }
      const body = checked(dispatch.assignmentBody, { crew: crew === '' ? null : crew, truck: call.text('truck') });
      const params = paramsOf(call);
      return towOutput(await call.client.call(ROUTES.assignTow, { params, body, key: call.key }));
    },
  });
  addCommand(tow, tools, {
    usage: 'step <reference> <step>',
    summary: `record a step of the crew: ${CREW_STEPS.join(', ')}`,
    options: [timestampOption('--occurred-at <time>', 'when it happened; default: now')],
    examples: [`towhook tow step ${REFERENCE} en_route`],
    changes: true,
    run: async (call) => {
      const body = checked(dispatch.stepBody, { step: call.argument(1), occurred_at: call.text('occurredAt') });
      const params = paramsOf(call);
      return towOutput(await call.client.call(ROUTES.recordStep, { params, body, key: call.key }));
    },
  });
  addCommand(tow, tools, {
    usage: 'yard <reference> <yard>',
    summary: 'record the yard of the vehicle',
    options: [option('--slot <slot>', 'the slot in the yard')],
    examples: [`towhook tow yard ${REFERENCE} North --slot B7`],
    changes: true,
    run: async (call) => {
      const body = checked(dispatch.yardBody, { yard: call.argument(1), slot: call.text('slot') });
      const params = paramsOf(call);
      return towOutput(await call.client.call(ROUTES.setYard, { params, body, key: call.key }));
    },
  });
  addCommand(tow, tools, {
    usage: 'note <reference> <text>',
    summary: 'add a note to a tow',
    examples: [`towhook tow note ${REFERENCE} "Owner calls back at 14:00"`],
    changes: true,
    run: async (call) => {
      const body = checked(dispatch.noteBody, { text: call.argument(1) });
      const params = paramsOf(call);
      return towOutput(await call.client.call(ROUTES.addNote, { params, body, key: call.key }));
    },
  });
  addHolds(tow, tools);
}

function addHolds(tow: Command, tools: CommandTools): void {
  addCommand(tow, tools, {
    usage: 'hold <reference>',
    summary: 'block payment and release until the hold is lifted',
    options: [option('--reason <text>', 'reason')],
    examples: [`towhook tow hold ${REFERENCE} --reason "police case 88/2"`],
    changes: true,
    run: async (call) => {
      const body = checked(dispatch.holdBody, { reason: call.text('reason') });
      const params = paramsOf(call);
      return towOutput(await call.client.call(ROUTES.placeHold, { params, body, key: call.key }));
    },
  });
  addCommand(tow, tools, {
    usage: 'lift <reference> <hold>',
    summary: 'lift a hold; `tow show` lists the holds',
    options: [option('--reason <text>', 'reason')],
    examples: [`towhook tow lift ${REFERENCE} 0b5c… --reason "case closed"`],
    changes: true,
    run: async (call) => {
      const body = checked(dispatch.liftBody, { reason: call.text('reason') });
      const params = { towing_reference_id: call.argument(0), hold_id: call.argument(1) };
      return towOutput(await call.client.call(ROUTES.liftHold, { params, body, key: call.key }));
    },
  });
}
