import type { Command } from 'commander';
import { answerOf, type Conservation, type Sending } from '../client';
import { resolveBody } from '../contracts/operator';
import { PAUSABLE_OPERATIONS } from '../domain/vocabulary';
import { WrongUse } from './problems';
import { addVerb, checked, option, type Shown, type Tools } from './verb';
import { pairs, riyadhTime, section, shown, table } from './words';

/** `towhook operation …` and `towhook conservation`: what holds sending, and whether anything was lost. */
export function addOperation(program: Command, tools: Tools): void {
  const operation = program.command('operation').summary('what holds sending: connection, outage, pauses, budgets');
  addVerb(operation, tools, {
    usage: 'list',
    summary: 'what holds sending now, and the budgets of calls',
    examples: ['towhook operation list'],
    act: async (call) => shownSending(await answerOf(call.client.GET('/api/operations'))),
  });
  addVerb(operation, tools, {
    usage: 'resume <operation>',
    summary: 'send again what was paused because the service forbade it',
    options: [option('--reason <text>', 'why, for the audit')],
    examples: ['towhook operation resume started --reason "the service has given us the right back"'],
    changes: true,
    act: async (call) => {
      const name = PAUSABLE_OPERATIONS.find((known) => known === call.argument(0));
      if (!name) throw new WrongUse([{ field: 'operation', rule: `must be one of ${PAUSABLE_OPERATIONS.join(', ')}` }]);
      const body = checked(resolveBody, { reason: call.text('reason') });
      const params = { path: { operation: name }, header: call.header };
      return shownSending(await answerOf(call.client.POST('/api/operations/{operation}/resume', { params, body })));
    },
  });
  addVerb(program, tools, {
    usage: 'conservation',
    summary: 'where everything stands that was acknowledged or recorded; lost must be 0',
    examples: ['towhook conservation --json'],
    act: async (call) => shownConservation(await answerOf(call.client.GET('/api/conservation'))),
  });
}

function shownSending(sending: Sending): Shown {
  const { connection, service, operations, budgets, held, token } = sending;
  const paused = operations.filter(({ state }) => state === 'paused');
  return {
    json: sending,
    lines: [
      ...pairs([
        ['connection', connection.state],
        ['service', service.state],
        ['down since', riyadhTime(service.since)],
        ['next try', riyadhTime(connection.next_try_at ?? service.next_try_at)],
        ['token', tokenWords(token)],
        ['held', `${held} tows and violations wait for any of these`],
      ]),
      ...section(
        'Paused',
        paused.map(({ operation, since }) => `${operation}, since ${riyadhTime(since)} (Riyadh)`),
      ),
      ...section(
        'Budgets',
        table(
          ['budget', 'a minute', 'used', 'waiting'],
          budgets.map(({ name, per_minute, used, waiting }) => [
            name,
            per_minute === 0 ? 'any number' : String(per_minute),
            String(used),
            String(waiting),
          ]),
        ),
      ),
    ],
  };
}

function tokenWords({ state, expires_at }: Sending['token']): string {
  if (expires_at === null) return state;
  return `${state} ${state === 'expired' ? 'since' : 'until'} ${riyadhTime(expires_at)} (Riyadh)`;
}

function shownConservation(walk: Conservation): Shown {
  return {
    json: walk,
    lines: [
      ...pairs([
        ['acknowledged', String(walk.acknowledged)],
        ['finished', String(walk.finished)],
        ['waiting', String(walk.waiting)],
        ['parked', String(walk.parked)],
        ['with a person', String(walk.with_a_person)],
        ['lost', String(walk.lost)],
        ['repaired', String(walk.repaired)],
        ['as of', walk.ended_at === null ? shown(null) : `${riyadhTime(walk.ended_at)} (Riyadh)`],
      ]),
      ...section('Lost', walk.lost_names),
    ],
  };
}
