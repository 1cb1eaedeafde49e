import type { Command } from 'commander';
import { ticketBody, zoneId } from '../contracts/lookups';
import { ROUTES } from '../contracts/operator-routes';
import { failedRules } from '../contracts/rules';
import { PLATE_TYPES } from '../domain/vocabulary';
import { UsageError } from './problems';
import { addCommand, checked, option, type CommandTools } from './command';
import { pairs, riyadhTime, textOrDash } from './format';

const ZONE = '3f2b8c1e-5d7a-4e0f-9c66-1a2b3c4d5e6f';

/** `towhook capacity` and `towhook ticket check`: questions that are passed on to the service. */
export function addLookups(program: Command, tools: CommandTools): void {
  addCommand(program, tools, {
    usage: 'capacity <zone>',
    summary: 'ask the service for the free slots of a zone',
    examples: [`towhook capacity ${ZONE}`],
    run: async (call) => {
      const zone = zoneId.safeParse(call.argument(0));
      if (zone.error) throw new UsageError(failedRules(zone.error).map(({ rule }) => ({ field: 'zone', rule })));
      const params = { zone_id: zone.data };
      const answer = await call.client.call(ROUTES.readCapacity, { params });
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
  const ticket = program.command('ticket').summary('parking tickets');
  addCommand(ticket, tools, {
    usage: 'check',
    summary: 'ask the service whether a vehicle has an active ticket in a zone',
    options: [
      option('--zone-id <uuid>', 'the zone'),
      option('--plate-number <plate>', 'the plate'),
      option('--plate-type <type>', 'the kind of plate', PLATE_TYPES),
    ],
    examples: [`towhook ticket check --zone-id ${ZONE} --plate-number "ABC 1234" --plate-type PRIVATE`],
    run: async (call) => {
      const body = checked(ticketBody, {
        zoneId: call.text('zoneId'),
        plateNumber: call.text('plateNumber'),
        plateType: call.text('plateType'),
      });
      const answer = await call.client.call(ROUTES.checkTicket, { body });
      return {
        json: answer,
        lines: pairs([
          ['active ticket', textOrDash(answer.hasActiveTicket)],
          ['as of', `${riyadhTime(answer.checked_at)} (Riyadh)`],
        ]),
      };
    },
  });
}
