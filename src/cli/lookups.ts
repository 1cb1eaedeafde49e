import type { Command } from 'commander';
import { answerOf } from '../client';
import { ticketBody, zoneId } from '../contracts/lookups';
import { failedRules } from '../contracts/rules';
import { PLATE_TYPES } from '../domain/vocabulary';
import { WrongUse } from './problems';
import { addVerb, checked, option, type Tools } from './verb';
import { pairs, riyadhTime, shown } from './words';

const ZONE = '3f2b8c1e-5d7a-4e0f-9c66-1a2b3c4d5e6f';

/** `towhook capacity` and `towhook ticket check`: what can be asked of the service right now. */
export function addLookups(program: Command, tools: Tools): void {
  addVerb(program, tools, {
    usage: 'capacity <zone>',
    summary: 'free slots of a zone, asked of the service',
    examples: [`towhook capacity ${ZONE}`],
    act: async (call) => {
      const zone = zoneId.safeParse(call.argument(0));
      if (zone.error) throw new WrongUse(failedRules(zone.error).map(({ rule }) => ({ field: 'zone', rule })));
      const path = { zone_id: zone.data };
      const answer = await answerOf(call.client.GET('/api/zones/{zone_id}/capacity', { params: { path } }));
      return {
        json: answer,
        lines: pairs([
          ['zone', answer.zoneId],
          ['free slots', String(answer.availableSlots)],
          ['as of', `${riyadhTime(answer.checked_at)} (Riyadh)`],
        ]),
      };
    },
  });
  const ticket = program.command('ticket').summary('parking tickets: ask before a fine');
  addVerb(ticket, tools, {
    usage: 'check',
    summary: 'whether a vehicle has an active ticket in a zone, asked of the service',
    options: [
      option('--zone-id <uuid>', 'the zone'),
      option('--plate-number <plate>', 'the plate'),
      option('--plate-type <type>', 'the kind of plate', PLATE_TYPES),
    ],
    examples: [`towhook ticket check --zone-id ${ZONE} --plate-number "ABC 1234" --plate-type PRIVATE`],
    changes: true,
    act: async (call) => {
      const body = checked(ticketBody, {
        zoneId: call.text('zoneId'),
        plateNumber: call.text('plateNumber'),
        plateType: call.text('plateType'),
      });
      const params = { header: call.header };
      const answer = await answerOf(call.client.POST('/api/tickets/check', { params, body }));
      return {
        json: answer,
        lines: pairs([
          ['active ticket', shown(answer.hasActiveTicket)],
          ['as of', `${riyadhTime(answer.checked_at)} (Riyadh)`],
        ]),
      };
    },
  });
}
