import * as fc from 'fast-check';
import { z } from 'zod';
import { anyJson, hostileText } from './hostile';

/** The keywords of a JSON schema that determine the drawn values. */
interface Schema {
  readonly type?: string | readonly string[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly items?: Schema | undefined;
  readonly anyOf?: readonly Schema[] | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly format?: string | undefined;
}

const schemaShape: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    properties: z.record(z.string(), schemaShape).optional(),
    required: z.array(z.string()).optional(),
    items: schemaShape.optional(),
    anyOf: z.array(schemaShape).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    maxLength: z.number().optional(),
    format: z.string().optional(),
  }),
);

/** Valid values for fields that a contract describes as text only, so that most drawn messages are valid. */
export type KnownTexts = Readonly<Record<string, fc.Arbitrary<string>>>;

/** Messages that mostly keep a contract; some have an invalid field. */
export function messagesOf(contract: z.ZodType, known: KnownTexts = {}): fc.Arbitrary<unknown> {
  return valuesOf(schemaShape.parse(z.toJSONSchema(contract, { unrepresentable: 'any', io: 'input' })), known);
}

function valuesOf(schema: Schema, known: KnownTexts): fc.Arbitrary<unknown> {
  if (schema.enum) return nearly(fc.constantFrom(...schema.enum));
  if (schema.const !== undefined) return nearly(fc.constant(schema.const));
  if (schema.anyOf && schema.anyOf.length > 0) return fc.oneof(...schema.anyOf.map((one) => valuesOf(one, known)));
  const { type = 'any' } = schema;
  if (typeof type !== 'string') return fc.oneof(...type.map((one) => valuesOf({ ...schema, type: one }, known)));
  switch (type) {
    case 'object':
      return nearly(schema.properties ? objectsOf(schema, known) : dictionaries);
    case 'array':
      return nearly(fc.array(valuesOf(schema.items ?? {}, known), { maxLength: 4 }));
    case 'string':
      return nearly(textsOf(schema));
    case 'integer':
      return nearly(
        fc.integer({ min: Math.max(-1e6, schema.minimum ?? 0), max: Math.min(1e6, schema.maximum ?? 100) }),
      );
    case 'number':
      return nearly(fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true }));
    case 'boolean':
      return nearly(fc.boolean());
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

const dictionaries = fc.oneof(
  fc.constantFrom<object>({ id: 'patrol-17' }, {}, { id: 17 }, { id: null }),
  fc.dictionary(hostileText, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }),
);

function objectsOf({ properties = {}, required = [] }: Schema, known: KnownTexts): fc.Arbitrary<object> {
  const model = Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [name, nearly(known[name] ?? valuesOf(member, known))]),
  );
  const whole = fc.record(model, { requiredKeys: required.filter((name) => name in model) });
  // An unknown field, or a missing one.
  const changed = fc.tuple(whole, hostileText, anyJson).map(([object, name, value]) => ({ ...object, [name]: value }));
  return fc.oneof({ weight: 9, arbitrary: whole }, changed, fc.record(model, { requiredKeys: [] }));
}

function textsOf({ format, maxLength }: Schema): fc.Arbitrary<string> {
  if (format === 'uuid') return fc.uuid();
  if (format === 'date-time') return fc.constantFrom('2026-11-20T10:00:00Z', '2026-11-20T10:00:00+03:00');
  return fc.oneof(
    fc.constantFrom('x', 'North yard', 'شارع التحلية', '2026-11-20T10:00:00Z'),
    fc.string({ maxLength: Math.min(60, maxLength ?? 60) }),
  );
}

/** The value, or sometimes any other. */
function nearly<T>(values: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 40, arbitrary: values }, { weight: 1, arbitrary: anyJson });
}
