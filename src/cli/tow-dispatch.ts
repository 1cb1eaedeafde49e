import type { Command } from 'commander';
import { answerOf } from '../client';
import * as dispatch from '../contracts/dispatch';
import { CREW_STEPS } from '../domain/dispatch';
import { WrongUse } from './problems';
import { shownTow } from './tow-lines';
import { addVerb, checked, momentOption, option, type Call, type Tools } from './verb';

const REFERENCE = 'TW-20261120-ABC123';

const paramsOf = (call: Call) => ({ path: { towing_reference_id: call.argument(0) }, header: call.header });

/** What the operator keeps of a tow for itself; the service is told nothing of it. */
export function addTowDispatch(tow: Command, tools: Tools): void {
  addVerb(tow, tools, {
    usage: 'assign <reference> [crew]',
    summary: 'give a tow to a crew and a truck, or with --nobody to nobody',
    options: [option('--truck <truck>', 'the truck they take'), option('--nobody', 'take the assignment back')],
    examples: [`towhook tow assign ${REFERENCE} "Crew 4" --truck T-12`, `towhook tow assign ${REFERENCE} --nobody`],
    changes: true,
    act: async (call) => {
      const crew = call.argument(1);
      if (call.flag('nobody') === (crew !== '')) {
        throw new WrongUse([{ field: 'crew', rule: 'is required, or --nobody instead of it' }]);
      }
      const body = checked(dispatch.assignmentBody, { crew: crew === '' ? null : crew, truck: call.text('truck') });
      const params = paramsOf(call);
      return shownTow(await answerOf(call.client.POST('/api/tows/{towing_reference_id}/assignment', { params, body })));
    },
  });
  addVerb(tow, tools, {
    usage: 'step <reference> <step>',
    summary: `a step of the crew on its way: ${CREW_STEPS.join(', ')}`,
    options: [momentOption('--occurred-at <moment>', 'when it happened (now when left out)')],
    examples: [`towhook tow step ${REFERENCE} en_route`],
    changes: true,
    act: async (call) => {
      const body = checked(dispatch.stepBody, { step: call.argument(1), occurred_at: call.text('occurredAt') });
      const params = paramsOf(call);
      return shownTow(await answerOf(call.client.POST('/api/tows/{towing_reference_id}/steps', { params, body })));
    },
  });
  addVerb(tow, tools, {
    usage: 'yard <reference> <yard>',
    summary: 'in which yard the vehicle stands',
    options: [option('--slot <slot>', 'and in which slot of it')],
    examples: [`towhook tow yard ${REFERENCE} North --slot B7`],
    changes: true,
    act: async (call) => {
      const body = checked(dispatch.yardBody, { yard: call.argument(1), slot: call.text('slot') });
      const params = paramsOf(call);
      return shownTow(await answerOf(call.client.POST('/api/tows/{towing_reference_id}/yard', { params, body })));
    },
  });
  addVerb(tow, tools, {
    usage: 'note <reference> <text>',
    summary: 'a note for everybody who looks at the tow',
    examples: [`towhook tow note ${REFERENCE} "Owner calls back at 14:00"`],
    changes: true,
    act: async (call) => {
      const body = checked(dispatch.noteBody, { text: call.argument(1) });
      const params = paramsOf(call);
      return shownTow(await answerOf(call.client.POST('/api/tows/{towing_reference_id}/notes', { params, body })));
    },
  });
  addHolds(tow, tools);
}

function addHolds(tow: Command, tools: Tools): void {
  addVerb(tow, tools, {
    usage: 'hold <reference>',
    summary: 'block payment and release until the hold is lifted',
    options: [option('--reason <text>', 'why')],
    examples: [`towhook tow hold ${REFERENCE} --reason "police case 88/2"`],
    changes: true,
    act: async (call) => {
      const body = checked(dispatch.holdBody, { reason: call.text('reason') });
      const params = paramsOf(call);
      return shownTow(await answerOf(call.client.POST('/api/tows/{towing_reference_id}/holds', { params, body })));
    },
  });
  addVerb(tow, tools, {
    usage: 'lift <reference> <hold>',
    summary: 'lift a hold; `tow show` lists them',
    options: [option('--reason <text>', 'why')],
    examples: [`towhook tow lift ${REFERENCE} hold-1 --reason "case closed"`],
    changes: true,
    act: async (call) => {
      const body = checked(dispatch.liftBody, { reason: call.text('reason') });
      const path = { towing_reference_id: call.argument(0), hold_id: call.argument(1) };
      const params = { path, header: call.header };
      return shownTow(
        await answerOf(call.client.POST('/api/tows/{towing_reference_id}/holds/{hold_id}/lift', { params, body })),
      );
    },
  });
}
