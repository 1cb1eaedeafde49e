import { z } from 'zod';
import type { FactCommand } from '../../domain/tow/fact-command';
import { FACTS } from '../../domain/tow/facts';
import type { FactEvent, Role } from '../../domain/vocabulary';
import { correctedShape, enteredShape, inputOf, timestamp } from '../../domain/tow/fact-fields';
import { readableFieldsOf } from '../common';

/**
 * The fields of each fact, one row per fact. API routes, OpenAPI document, command line, demo and console forms are made
 * from these rows. A schema checks one field; rules that depend on the tow are in src/domain/tow/facts.ts.
 */
export interface FactContract {
  readonly role: Role;
  /** What the fact means, for the API and the command line. */
  readonly summary: string;
  readonly body: z.ZodObject;
  /** Checks a body and returns the command for the rules. Throws if the body breaks the contract. */
  readonly commandOf: (body: unknown) => FactCommand;
  /** The command of only those fields that keep the contract, or null for a body that is not an object. */
  readonly readableCommandOf: (body: unknown) => FactCommand | null;
}

function contractOf<E extends FactEvent>(event: E, summary: string) {
  const body = z.strictObject(enteredShape(event));
  const readable = readableFieldsOf(body);
  const commandOf = (fields: object): FactCommand<E> => ({ event, ...inputOf(event, fields) });
  return {
    summary,
    body,
    role: FACTS[event].role,
    commandOf: (given: unknown) => commandOf(body.parse(given)),
    readableCommandOf: (given: unknown) => {
      const fields = readable(given);
      return fields && commandOf(fields);
    },
  };
}

export const FACT_CONTRACTS = {
  started: contractOf('started', 'The vehicle is hooked up; values that the violation has are optional.'),
  detained: contractOf('detained', 'The vehicle is in the yard.'),
  canceled: contractOf(
    'canceled',
    'The tow is called off; a detained or invoiced one only by ops, an invoiced one with a reason.',
  ),
  released: contractOf('released', 'The vehicle is handed back.'),
  invoice: contractOf('invoice', 'Request the invoice from the service.'),
  payment: contractOf('payment', 'The invoice was paid.'),
} as const satisfies Readonly<Record<FactEvent, FactContract>>;

/** Any correctable field. The rules check which of them the kind of a report has. */
export const correctionBody = z.strictObject({
  ...correctedShape('started'),
  ...correctedShape('detained'),
  ...correctedShape('canceled'),
  ...correctedShape('released'),
  ...correctedShape('invoice'),
  ...correctedShape('payment'),
});

const readableCorrection = readableFieldsOf(correctionBody);

/** The correction of only those fields that keep the contract, or null if there is none. */
export function readableCorrectionOf(given: unknown): z.output<typeof correctionBody> | null {
  const fields = readableCorrection(given) ?? {};
  return Object.keys(fields).length === 0 ? null : fields;
}

type FieldKind = 'text' | 'number' | 'timestamp';

/** The names of a body's fields of one kind. */
export function fieldsOfKind(body: z.ZodObject, kind: FieldKind): string[] {
  return Object.entries<z.core.$ZodType>(body.shape).flatMap(([name, schema]) =>
    kindOf(schema) === kind ? [name] : [],
  );
}

function kindOf(schema: z.core.$ZodType): FieldKind {
  const value = schema instanceof z.ZodOptional ? schema.def.innerType : schema;
  if (value === timestamp) return 'timestamp';
  return value instanceof z.ZodNumber ? 'number' : 'text';
}
