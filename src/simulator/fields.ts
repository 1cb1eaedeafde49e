import { z } from 'zod';
import { REFUSALS, type RefusedCall } from './answer/faults';

/** The fields of a request as received, by wire name. */
export type RequestFields = Readonly<Record<string, unknown>>;

export interface FieldRules<S extends z.ZodObject> {
  /** The operation's request contract; unknown fields are ignored. */
  readonly schema: S;
  readonly zones: { isZoneKnown(zoneId: string): boolean };
}

/**
 * Checks a request's fields in the order: missing field (absent, null or an empty string), enum value, zone
 * (docs/service-api.md#violation-errors and #tow-errors). A value of a wrong type counts as missing: no other
 * documented error fits it.
 */
export function readFields<S extends z.ZodObject>(
  fields: RequestFields,
  { schema, zones }: FieldRules<S>,
): { value: z.output<S> } | RefusedCall {
  const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
  const known = Object.entries(shape);
  const given = new Map(
    known.map(([name]): [string, unknown] => [name, fields[name]]).filter(([, value]) => !isAbsent(value)),
  );
  for (const [name, field] of known) {
    const unusable = !isEnum(field) && !z.safeParse(field, given.get(name)).success;
    const absent = isEnum(field) && !given.has(name) && !z.safeParse(field, undefined).success;
    if (unusable || absent) return { refusal: REFUSALS.missingField, field: name };
  }
  for (const [name, field] of known) {
    if (given.has(name) && isEnum(field) && !z.safeParse(field, given.get(name)).success) {
      return { refusal: REFUSALS.invalidEnum, field: name };
    }
  }
  const zoneId = given.get('zoneId');
  if (typeof zoneId === 'string' && !zones.isZoneKnown(zoneId)) {
    return { refusal: REFUSALS.zoneNotFound, field: 'zoneId' };
  }
  return { value: schema.parse(Object.fromEntries(given)) };
}

const NUMBER = /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i;

/**
 * Parses the text fields of a form to the types of their contract. Unparsable text stays text and fails the contract.
 */
export function decodeForm(fields: Readonly<Record<string, string>>, schema: z.ZodObject): RequestFields {
  const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
  return Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, decode(text, shape[name])]));
}

function decode(text: string, field: z.core.$ZodType | undefined): unknown {
  if (field instanceof z.ZodOptional) return decode(text, field.def.innerType);
  if (field instanceof z.ZodNumber) return NUMBER.test(text) ? Number(text) : text;
  if (field instanceof z.ZodBoolean) return text === 'true' ? true : text === 'false' ? false : text;
  // Only `metadata` is an object: docs/service-api.md#violation-form sends it as a JSON-encoded form field.
  if (field instanceof z.ZodRecord) {
    const value = parseJson(text);
    return value === undefined ? text : value;
  }
  return text;
}

/** The parsed JSON; undefined for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isEnum(field: z.core.$ZodType): boolean {
  return field instanceof z.ZodOptional ? isEnum(field.def.innerType) : field instanceof z.ZodEnum;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
