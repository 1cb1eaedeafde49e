import { ENTRY_KINDS } from '../domain/vocabulary';
import type { Command } from 'commander';
import type { ConservationView } from '../contracts/conservation';
import { resolveBody, type SendingView } from '../contracts/operator';
import { ROUTES } from '../contracts/operator-routes';
import { UsageError } from './problems';
import { addCommand, checked, option, type CommandOutput, type CommandTools } from './command';
import { pairs, riyadhTime, section, textOrDash, table } from './format';

/** `towhook operation …` and `towhook conservation` */
export function addOperation(program: Command, tools: CommandTools): void {
  const operation = program.command('operation').summary('sending: connection, outage, paused operations, budgets');
  addCommand(operation, tools, {
    usage: 'list',
    summary: 'show what blocks sending now, and the budgets of calls',
    examples: ['towhook operation list'],
    run: async (call) => sendingOutput(await call.client.call(ROUTES.readSending)),
  });
  addCommand(operation, tools, {
    usage: 'resume <operation>',
    summary: 'resume an operation that was paused because the service forbade it',
    options: [option('--reason <text>', 'reason for the audit log')],
    examples: ['towhook operation resume started --reason "the service has given us the right back"'],
    changes: true,
    run: async (call) => {
      const name = ENTRY_KINDS.find((known) => known === call.argument(0));
      if (!name) throw new UsageError([{ field: 'operation', rule: `must be one of ${ENTRY_KINDS.join(', ')}` }]);
      const body = checked(resolveBody, { reason: call.text('reason') });
      const params = { operation: name };
      return sendingOutput(await call.client.call(ROUTES.resumeOperation, { params, body, key: call.key }));
    },
  });
  addCommand(program, tools, {
    usage: 'conservation',
    summary: 'show the states of everything that was acknowledged or recorded; lost must be 0',
    examples: ['towhook conservation --json'],
    run: async (call) => conservationOutput(await call.client.call(ROUTES.readConservation)),
  });
}

function sendingOutput(sending: SendingView): CommandOutput {
  const { connection, service, operations, budgets, held, token } = sending;
  const paused = operations.filter(({ state }) => state === 'paused');
  return {
    json: sending,
    lines: [
      ...pairs([
        ['connection', connection.state],
        ['service', service.state],
        ['down since', riyadhTime(service.since)],
        ['next attempt', riyadhTime(connection.next_try_at ?? service.next_try_at)],
        ['token', tokenText(token)],
        ['blocked', `${held} tows and violations`],
      ]),
      ...section(
        'Paused',
        paused.map(({ operation, since }) => `${operation}, since ${riyadhTime(since)} (Riyadh)`),
      ),
      ...section(
        'Budgets',
        table(
          ['budget', 'per minute', 'service says', 'used', 'waiting', 'closed until (Riyadh)'],
          budgets.map((budget) => [
            budget.name,
            budget.per_minute === 0 ? 'unlimited' : String(budget.per_minute),
            textOrDash(budget.announced_per_minute === null ? null : String(budget.announced_per_minute)),
            String(budget.used),
            String(budget.waiting),
            riyadhTime(budget.closed_until),
          ]),
        ),
      ),
    ],
  };
}

function tokenText({ state, expires_at }: SendingView['token']): string {
  if (expires_at === null) return state;
  return `${state} ${state === 'expired' ? 'since' : 'until'} ${riyadhTime(expires_at)} (Riyadh)`;
}

function conservationOutput(check: ConservationView): CommandOutput {
  return {
    json: check,
    lines: [
      ...pairs([
        ['acknowledged', String(check.acknowledged)],
        ['finished', String(check.finished)],
        ['waiting', String(check.waiting)],
        ['parked', String(check.parked)],
        ['with a person', String(check.with_a_person)],
        ['lost', String(check.lost)],
        ['repaired', String(check.repaired)],
        ['as of', check.ended_at === null ? textOrDash(null) : `${riyadhTime(check.ended_at)} (Riyadh)`],
      ]),
      ...section('Lost', check.lost_names),
    ],
  };
}
