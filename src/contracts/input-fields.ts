import { z } from 'zod';
import type { Route } from './routes/route';

/** The fields that a route takes, as forms and commands need them. */

/** A field of a query or a body. */
export interface InputField {
  readonly name: string;
  /** `flag`: a text `true` or `false`. `list`: of texts. */
  readonly kind: 'text' | 'list' | 'number' | 'boolean' | 'flag' | 'timestamp';
  /** The values that it may have; empty for any. */
  readonly choices: readonly string[];
  readonly description: string;
  readonly isRequired: boolean;
  /** True if null empties it. */
  readonly isNullable: boolean;
}

/** The part of a JSON schema that describes a field. */
const part = z.object({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.string()).optional(),
  format: z.string().optional(),
  description: z.string().optional(),
});
const fieldSchema = part.extend({ anyOf: z.array(part).optional() });
const inputSchema = z.object({
  properties: z.record(z.string(), fieldSchema).default({}),
  required: z.array(z.string()).default([]),
});

/** The fields of the query or the body of a route, in their order. */
export function inputFields(route: Route): InputField[] {
  const contract = route.body ?? route.query;
  if (contract === undefined) return [];
  // The fields of a form arrive as text; the parsed ones have their choices.
  const io = route.takes === 'form' ? 'output' : 'input';
  const { properties, required } = inputSchema.parse(z.toJSONSchema(contract, { io, unrepresentable: 'any' }));
  return Object.entries(properties).map(([name, { anyOf = [], ...schema }]) => {
    const [field = schema] = anyOf;
    const types = [schema, ...anyOf].flatMap(({ type = [] }) => type);
    return {
      name,
      kind: route.takes === 'form' ? 'text' : kindOf(types, field),
      choices: field.enum ?? [],
      description: schema.description ?? field.description ?? '',
      isRequired: required.includes(name),
      isNullable: types.includes('null'),
    };
  });
}

function kindOf(types: readonly string[], { format, enum: choices }: z.infer<typeof part>): InputField['kind'] {
  if (types.includes('number') || types.includes('integer')) return 'number';
  if (types.includes('boolean')) return 'boolean';
  if (types.includes('array')) return 'list';
  if (choices?.join() === 'true,false') return 'flag';
  return format === 'date-time' ? 'timestamp' : 'text';
}
