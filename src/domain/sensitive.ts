import { z } from 'zod';

/** Personal data and secrets are marked where their field is defined. The log redactor and all masks read the mark. */
const sensitiveSchemas = z.registry<{ readonly sensitive: true }>();

/** Marks a field as personal data or a secret: its value never reaches a log, metric, error text or URL. */
export function sensitive<T extends z.ZodType>(schema: T): T {
  sensitiveSchemas.add(schema, { sensitive: true });
  return schema;
}

/** Names of all sensitive fields, at any depth of the schemas. */
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
  for (const inner of innersOf(schema)) collect(inner, names, seen);
}

function isMarked(schema: z.core.$ZodType): boolean {
  if (sensitiveSchemas.has(schema)) return true;
  return wrappedBy(schema).some(isMarked);
}

/** The schema inside a wrapper, or of the items of a list. */
function wrappedBy(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly ||
    schema instanceof z.ZodCatch
  ) {
    return [schema.def.innerType];
  }
  if (schema instanceof z.ZodArray) return [schema.def.element];
  if (schema instanceof z.ZodPipe) return [schema.def.in, schema.def.out];
  return [];
}

/** Every direct inner schema. */
function innersOf(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodUnion) return [...schema.def.options];
  if (schema instanceof z.ZodIntersection) return [schema.def.left, schema.def.right];
  if (schema instanceof z.ZodRecord) return [schema.def.valueType];
  if (schema instanceof z.ZodTuple) return [...schema.def.items];
  if (schema instanceof z.ZodLazy) return [schema.def.getter()];
  return wrappedBy(schema);
}
