import { z } from 'zod';
import {
  isTowingReference,
  isViolationReference,
  type JsonObject,
  type OrUnknown,
  type TowingReference,
  type UnknownValue,
  type ViolationReference,
} from './vocabulary';

/** Values in Redis hashes, which are text. */

export const counter = z.coerce.number().int();

/** A value whose text is '' while it is null. */
export const orEmpty = <Value extends z.ZodType>(value: Value) =>
  z.union([z.literal('').transform(() => null), value]).default(null);

export const storedTimestampMs = orEmpty(z.coerce.number());

/**
 * A JSON object in a stored text. It may be large, so it is neither checked in depth nor copied: its own contract did
 * that when it was received.
 */
export const storedObject: z.ZodType<JsonObject> = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);

/**
 * An object that keeps the fields that another version of towhook stored: for those its type has no names. All parsed
 * objects of one schema have their fields in the same order, which keeps copies and comparisons fast.
 */
export function storedRecord<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape> {
  return z.looseObject(shape);
}

/** A list of records that is replaced, never changed in place. */
export function storedList<Item extends z.ZodType>(item: Item): z.ZodType<readonly Readonly<z.output<Item>>[]> {
  return z.array(item);
}

/** The service's reference of a tow; its documented format is not relied on. */
export const towingReference = z.custom<TowingReference>(
  (value) => typeof value === 'string' && isTowingReference(value),
  'must be a non-empty string',
);

/** The service's reference of a violation. */
export const violationReference = z.custom<ViolationReference>(
  (value) => typeof value === 'string' && isViolationReference(value),
  'must be a non-empty string',
);

/** Fields that are left out of a stored record while they have these values. */
export const nullableNumber = z.number().nullable().default(null);
export const nullableText = z.string().nullable().default(null);
export const count = z.number().int().default(0);

const unknownValue = z.custom<UnknownValue>((value) => typeof value === 'string');

/** A stored value: one of these, or one of another version, which is kept. */
export const orUnknown = <Known extends string>(known: readonly Known[]): z.ZodType<OrUnknown<Known>, string> =>
  z.string().transform((text) => known.find((value) => value === text) ?? unknownValue.parse(text));

/** Parses text that is JSON of a contract. */
export const jsonText = <T extends z.ZodType>(schema: T) =>
  z.string().transform((text, context) => {
    try {
      return schema.parse(JSON.parse(text));
    } catch {
      context.addIssue({ code: 'custom', message: 'is not the JSON it should be' });
      return z.NEVER;
    }
  });

/** The fields of a packed record, after inflating. */
export const packedFields = z.record(z.string(), z.string());
export const storedTexts = z.array(z.string());
