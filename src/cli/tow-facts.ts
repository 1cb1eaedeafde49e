import type { Command } from 'commander';
import { FACT_CONTRACTS, type FactBody, type FactContract } from '../contracts/facts';
import { ROUTES } from '../contracts/operator-routes';
import { FACT_EVENTS } from '../domain/vocabulary';
import { bodyOptions, bodyValues } from './body-options';
import { addCommand, checked, optionNamed, type CommandSpec, type CommandTools } from './command';
import { towOutput } from './tow-lines';

const REFERENCE = 'TW-20261120-ABC123';

/** What a command sends for a required field that is not given. */
const DEFAULTS: Readonly<Record<string, string>> = { vehicle_type: 'HEAVY' };

/** One command per fact about a tow; each fact becomes a report to the service. */
export function addTowFacts(tow: Command, tools: CommandTools): void {
  for (const event of FACT_EVENTS) {
    const { body } = FACT_CONTRACTS[event];
    addCommand(tow, tools, {
      ...factCommandSpec(event, FACT_CONTRACTS[event]),
      run: async (call) => {
        const params = { towing_reference_id: call.argument(0) };
        const fields = checked<FactBody>(body, bodyValues(body, call));
        return towOutput(await call.client.call(ROUTES[event], { params, body: fields, key: call.key }));
      },
    });
  }
}

/** The help and the options of the command that records a fact. */
export function factCommandSpec(
  event: string,
  { summary, body, examples }: Pick<FactContract, 'summary' | 'body' | 'examples'>,
): Omit<CommandSpec, 'run'> {
  const options = bodyOptions(body);
  for (const [field, value] of Object.entries(DEFAULTS)) {
    options.find(({ long }) => long === optionNamed(field))?.default(value);
  }
  return {
    usage: `${event} <reference>`,
    summary: summary.charAt(0).toLowerCase() + summary.slice(1).replace(/\.$/, ''),
    options,
    examples: examples.map((example) => ['towhook tow', event, REFERENCE, ...argumentsOf(example)].join(' ')),
    changes: true,
  };
}

function argumentsOf(example: Readonly<Record<string, string | number>>): string[] {
  return Object.entries(example).map(([field, value]) => {
    const text = String(value);
    return `${optionNamed(field)} ${text.includes(' ') ? `"${text}"` : text}`;
  });
}
