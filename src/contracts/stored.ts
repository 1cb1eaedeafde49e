import { z } from 'zod';

/** How values stand in Redis hashes, which hold text; '' stands for "not set". */

export const counter = z.coerce.number().int();

export const momentMs = z.union([z.literal('').transform(() => null), z.coerce.number()]).default(null);

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
export const perhapsJson = <T extends z.ZodType>(schema: T) =>
  z.union([z.literal('').transform(() => null), jsonText(schema)]).default(null);
