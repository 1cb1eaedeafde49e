import { z } from 'zod';
import type { JsonObject, OrUnknown, UnknownValue } from './vocabulary';

/** Values in Redis hashes, which are text; '' means "not set". */

export const counter = z.coerce.number().int();

export const storedTimestampMs = z.union([z.literal('').transform(() => null), z.coerce.number()]).default(null);

/**
 * A JSON object in a stored text. It may be large, so it is neither checked in depth nor copied: its own contract did
 * that when it was received.
 */
export const storedObject: z.ZodType<JsonObject> = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);

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
