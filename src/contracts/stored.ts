import { z } from 'zod';
import type { JsonObject } from '../domain/vocabulary';

/** How values stand in Redis hashes, which hold text; '' stands for "not set". */

export const counter = z.coerce.number().int();

export const momentMs = z.union([z.literal('').transform(() => null), z.coerce.number()]).default(null);

/**
 * A JSON object within a text of ours: what `JSON.parse` made holds nothing but JSON, and may be large. It is taken as it
 * is, neither walked through nor copied; where it comes in from outside, its own contract has looked at it.
 */
export const storedObject: z.ZodType<JsonObject> = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);

/** Text that is JSON of a contract. */
export const jsonText = <T extends z.ZodType>(schema: T) =>
  z.string().transform((text, context) => {
    try {
      return schema.parse(JSON.parse(text));
    } catch {
      context.addIssue({ code: 'custom', message: 'is not the JSON it should be' });
      return z.NEVER;
    }
  });
