import { z } from 'zod';

/**
 * Personal data and secrets are marked once, where their field is defined. The log redactor and every mask read the mark.
 */
const sensitiveSchemas = z.registry<{ readonly sensitive: true }>();

/** Marks a field as personal data or a secret: its value never reaches a log, a metric, an error text or a URL. */
export function sensitive<T extends z.ZodType>(schema: T): T {
  sensitiveSchemas.add(schema, { sensitive: true });
  return schema;
}

/** Names of all fields, at any depth of the given schemas, that are marked sensitive. */
export function sensitiveFieldNames(schemas: readonly z.ZodType[]): string[] {
  const names = new Set<string>();
  for (const schema of schemas) collect(schema, names, new Set());
  return [...names].toSorted();
}

function collect(schema: z.core.$ZodType, names: Set<string>, seen: Set<z.core.$ZodType>): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  if (schema instanceof z.ZodObject) {
    for (const [name, field] of Object.entries<z.core.$ZodType>(schema.shape)) {
      if (isMarked(field)) names.add(name);
      collect(field, names, seen);
    }
  }
  const inner = innerOf(schema);
  if (inner) collect(inner, names, seen);
}

function isMarked(schema: z.core.$ZodType): boolean {
  if (sensitiveSchemas.has(schema)) return true;
  const inner = innerOf(schema);
  return inner !== null && isMarked(inner);
}

function innerOf(schema: z.core.$ZodType): z.core.$ZodType | null {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return schema.def.innerType;
  }
  if (schema instanceof z.ZodArray) return schema.def.element;
  if (schema instanceof z.ZodPipe) return schema.def.in;
  return null;
}
