import { z } from 'zod';

/**
 * A reader of those fields of a body that keep their contracts, so that the rules can be checked although other fields
 * break theirs. It returns the parsed fields, or null for a body that is not an object.
 */
export function readableFieldsOf<B extends z.ZodObject>(body: B): (given: unknown) => Partial<z.output<B>> | null {
  const partial = body.partial();
  const readable = z.custom<Partial<z.output<B>>>((fields) => partial.safeParse(fields).success);
  return (given) => {
    const { data: fields } = z.record(z.string(), z.unknown()).safeParse(given);
    if (!fields) return null;
    const kept = Object.entries(partial.shape).flatMap(([name, schema]) => {
      const data: unknown = z.safeParse(schema, fields[name]).data;
      return data === undefined ? [] : [[name, data] as const];
    });
    return readable.parse(Object.fromEntries(kept));
  };
}
