import { z } from 'zod';
import { OPERATIONS, type OperationName } from './operations';
import { envelope } from './service';
import { WEBHOOKS } from '../webhook/webhooks';
import type { DifferenceSource } from '../../domain/service/difference';
import type { ContractField } from '../../domain/service/service-shapes';
import type { DeliveryKind } from '../../domain/vocabulary';

/** The documented fields of answers and webhooks, from their contracts: what messages are compared with. */

/** The part of a JSON schema that names fields and types. */
interface FieldSchema {
  readonly type?: string | readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, FieldSchema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly items?: FieldSchema | undefined;
  readonly anyOf?: readonly FieldSchema[] | undefined;
}

const fieldSchema: z.ZodType<FieldSchema> = z.lazy(() =>
  z.object({
    type: z.union([z.string(), z.array(z.string())]).optional(),
    properties: z.record(z.string(), fieldSchema).optional(),
    required: z.array(z.string()).optional(),
    items: fieldSchema.optional(),
    anyOf: z.array(fieldSchema).optional(),
  }),
);

/** The fields of a schema, in its order. */
function contractFieldsOf(schema: z.ZodType): readonly ContractField[] {
  const converted = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', override: nameCustomType });
  return fieldsIn(fieldSchema.parse(converted), '');
}

/** Names the type of a schema that has only a check of its own: references are strings, metadata is an object. */
function nameCustomType({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodType;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}) {
  if (!(zodSchema instanceof z.ZodCustom)) return;
  const takes = (value: unknown) => zodSchema.safeParse(value).success;
  if (takes('A-1')) jsonSchema.type = 'string';
  else if (takes({})) jsonSchema.type = 'object';
}

function fieldsIn(schema: FieldSchema, prefix: string): ContractField[] {
  const inner = [schema, ...(schema.anyOf ?? [])];
  return inner.flatMap(({ properties = {}, required = [], items }) => [
    ...Object.entries(properties).flatMap(([name, property]) => [
      { field: `${prefix}${name}`, types: typesOf(property), isRequired: required.includes(name) },
      ...fieldsIn(property, `${prefix}${name}.`),
    ]),
    ...(items ? fieldsIn(items, `${prefix.replace(/\.$/, '')}[].`) : []),
  ]);
}

function typesOf({ type = [], anyOf = [] }: FieldSchema): readonly string[] {
  return [...new Set([...(typeof type === 'string' ? [type] : type), ...anyOf.flatMap(typesOf)])];
}

/** The contract of a message: a webhook, or an answer inside its envelope or bare. */
function contractOf(source: DifferenceSource, name: string, hasEnvelope: boolean): readonly ContractField[] {
  if (source === 'webhook') return isWebhook(name) ? contractFieldsOf(WEBHOOKS[name].body) : [];
  if (!isOperation(name)) return [];
  const { answer, answerShape } = OPERATIONS[name];
  const data = contractFieldsOf(answer);
  if (answerShape === 'bare_or_envelope' && !hasEnvelope) return data;
  return contractFieldsOf(envelope).flatMap((outer) =>
    outer.field === 'data' ? [outer, ...data.map((inner) => ({ ...inner, field: `data.${inner.field}` }))] : [outer],
  );
}

const known = new Map<string, readonly ContractField[]>();

/**
 * The documented fields of the messages of an operation or a webhook; none for an unknown name.
 * @param hasEnvelope for answers whose envelope is not documented: whether they have one.
 */
export function documentedFields(
  source: DifferenceSource,
  name: string,
  { hasEnvelope = false } = {},
): readonly ContractField[] {
  const key = `${source} ${name} ${hasEnvelope}`;
  const fields = known.get(key) ?? contractOf(source, name, hasEnvelope);
  known.set(key, fields);
  return fields;
}

const names = new Map<string, ReadonlySet<string>>();
const ENVELOPE_NAMES = ['code', 'message', 'data'];

/** The names of all these fields. */
export function contractNames(source: DifferenceSource, name: string): ReadonlySet<string> {
  const key = `${source} ${name}`;
  const fields = documentedFields(source, name).flatMap(({ field }) => field.replaceAll('[]', '').split('.'));
  const found = names.get(key) ?? new Set([...fields, ...ENVELOPE_NAMES]);
  names.set(key, found);
  return found;
}

function isOperation(name: string): name is OperationName {
  return name in OPERATIONS;
}

function isWebhook(name: string): name is DeliveryKind {
  return name in WEBHOOKS;
}
