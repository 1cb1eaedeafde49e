import { InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import type { InputField } from '../contracts/input-fields';
import { failedRules } from '../contracts/rules';
import { DECIMAL_NUMBER } from '../domain/numerals';
import { timestampMs } from '../domain/timestamp';
import { UsageError } from './problems';

/** The fields that a route takes, as options of its command. */

/** The option of a field: `--plate-number <text>`. */
export function fieldOption({ name, kind, choices, description }: InputField): Option {
  const flag = optionNamed(name);
  switch (kind) {
    case 'number':
      return new Option(`${flag} <number>`, description).argParser(numberIn);
    case 'timestamp':
      return new Option(`${flag} <time>`, `${description}; ISO 8601 with an offset`).argParser(timestampIn);
    case 'flag':
      return new Option(`${flag} [value]`, description).preset('true').argParser(flagIn);
    case 'boolean':
      return new Option(`${flag} [value]`, description).preset('true').argParser((text) => flagIn(text) === 'true');
    case 'list':
      return new Option(`${flag} <values...>`, description);
    case 'text':
      return choices.length === 0
        ? new Option(`${flag} <text>`, description)
        : new Option(`${flag} <value>`, description).choices(choices);
  }
}

function numberIn(text: string): number {
  if (!DECIMAL_NUMBER.test(text.trim())) throw new InvalidArgumentError('It must be a number.');
  return Number(text);
}

function flagIn(text: string): 'true' | 'false' {
  if (text === 'true' || text === 'false') return text;
  throw new InvalidArgumentError('It must be true or false.');
}

function timestampIn(text: string): string {
  if (timestampMs(text.trim()) !== null) return text;
  throw new InvalidArgumentError('It must be an ISO 8601 date and time with Z or an offset.');
}

/** `plate_number` and `plateNumber` → `--plate-number`. */
export function optionNamed(field: string): string {
  return `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-')}`;
}

/**
 * Checks what was entered by the contract of its route, before anything is sent. Throws UsageError that names every
 * invalid option or argument.
 */
export function checkFields(
  contract: z.ZodType,
  given: Readonly<Record<string, unknown>>,
  positional: readonly string[],
): void {
  const { error } = contract.safeParse(given);
  if (error === undefined) return;
  throw new UsageError(
    failedRules(error).map(({ field, rule }) => ({
      field: positional.includes(field) ? field : optionNamed(field),
      rule: field in given ? rule : requirementIn(rule),
    })),
  );
}

/** The rule of a field that was left out, as the requirement of its option. */
function requirementIn(rule: string): string {
  return rule
    .replace(/^must be (?!one of).*|^is required.*/, 'is required')
    .replace(/^must be one of/, 'is required, one of');
}

/** An example of every value that a command of a route needs. */
const EXAMPLES: Readonly<Record<string, string>> = {
  towing_reference_id: 'TW-20261120-ABC123',
  report_id: 'started-1',
  violation_id: 'patrol-7-0042',
  hold_id: '0b5c…',
  photo_id: '0b5c…',
  image_number: '1',
  delivery_id: '0b5c…',
  difference_id: 'answer.started.1c2d3e4f',
  task_id: 'invoice_mismatch.TW-20261120-ABC123',
  run_id: '0b5c…',
  action: 'retry',
  key_id: '5b0e…',
  zone_id: '3f2b8c1e-5d7a-4e0f-9c66-1a2b3c4d5e6f',
  operation: 'started',
  queue: 'reports',
  mode: 'live',
  channel: 'mail',
  step: 'en_route',
  crew: '"Crew 4"',
  yard: 'North',
  text: '"Owner calls back at 14:00"',
  reason: '"seen at the service"',
  cancellation_reason: '"Vehicle gone on arrival"',
  vehicle_type: 'HEAVY',
  name: 'yard',
  role: 'crew',
  plateNumber: '"ABC 1234"',
  plateType: 'PRIVATE',
  violationType: 'WRONG_PARKING',
  zoneId: '3f2b8c1e-5d7a-4e0f-9c66-1a2b3c4d5e6f',
  location: '"Olaya Street"',
  latitude: '24.69',
  longitude: '46.68',
};

/** The command of a route with an example of each argument, and of each option that it needs. */
export function exampleOf(command: string, options: readonly InputField[], more: readonly string[] = []): string {
  const words = command.replaceAll(/[<[](\w+)[>\]]/g, (_argument, name: string) => EXAMPLES[name] ?? name);
  const needed = options.filter(({ isRequired }) => isRequired);
  const given = needed.map(({ name }) => `${optionNamed(name)} ${EXAMPLES[name] ?? '…'}`);
  return ['towhook', words, ...given, ...more].join(' ');
}
