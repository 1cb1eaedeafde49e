import { compile } from 'json-schema-to-typescript';
import { format } from 'prettier';

/**
 * Writes the types of the generated client: the `paths` that openapi-fetch is typed by, as one schema compiled from the
 * OpenAPI document.
 */

type Json = Readonly<Record<string, unknown>>;
type Compiled = Parameters<typeof compile>[0];

const BANNER = `/**
 * The operator API as types, for openapi-fetch. Generated from the OpenAPI document by \`npm run generate\`: change the
 * contracts, not this file.
 */
`;
const STYLE = { printWidth: 120, singleQuote: true, parser: 'typescript' };
const METHODS = ['get', 'post', 'delete'] as const;

/** The text of `src/client/paths.ts`. Rejects for a document that no types can be made of. */
export async function clientPaths(document: Json): Promise<string> {
  const components = objectIn(document, 'components');
  const paths = Object.entries(objectIn(document, 'paths'));
  const schema: Compiled = {
    ...strict(Object.fromEntries(paths.map(([path, item]) => [path, pathItem(asObject(item), components)]))),
    definitions: Object.fromEntries(
      Object.entries(objectIn(components, 'schemas')).map(([name, definition]) => [name, typed(definition, 'answer')]),
    ),
  };
  const text = await compile(schema, 'paths', { bannerComment: BANNER, additionalProperties: false, format: false });
  // Statuses are numbers to openapi-fetch, and every name of the house begins small but its types.
  const numbered = text.replaceAll(/"(\d{3})":/g, '$1:').replace('export interface Paths ', 'export interface paths ');
  return format(numbered, STYLE);
}

function pathItem(item: Json, components: Json): Compiled {
  const operations = METHODS.flatMap((method) => {
    const operation = item[method];
    return operation === undefined ? [] : [[method, operationType(asObject(operation), components)] as const];
  });
  return strict(Object.fromEntries(operations));
}

function operationType(operation: Json, components: Json): Compiled {
  const answers = Object.entries(objectIn(operation, 'responses')).map(
    ([status, answer]) => [status, contentType(resolved(asObject(answer), components), 'answer')] as const,
  );
  const body = operation['requestBody'];
  return strict(
    {
      parameters: parametersType(listIn(operation, 'parameters')),
      ...(body === undefined ? {} : { requestBody: contentType(asObject(body), 'request') }),
      responses: strict(Object.fromEntries(answers)),
    },
    body !== undefined && asObject(body)['required'] !== true ? ['requestBody'] : [],
  );
}

/** By where they travel; what is not required may be left out or undefined. */
function parametersType(parameters: readonly unknown[]): Compiled {
  const places = ['path', 'query', 'header'] as const;
  const listed = parameters.map(asObject);
  const used = places.filter((place) => listed.some((parameter) => parameter['in'] === place));
  const optional = used.filter((place) =>
    listed.every((parameter) => parameter['in'] !== place || parameter['required'] !== true),
  );
  const ofPlace = (place: string): Compiled => {
    const here = listed.filter((parameter) => parameter['in'] === place);
    const required = here.filter((parameter) => parameter['required'] === true).map(nameOf);
    const properties = Object.fromEntries(here.map((parameter) => [nameOf(parameter), parameter['schema']]));
    return typed({ type: 'object', properties, required, additionalProperties: false }, 'request');
  };
  return strict(Object.fromEntries(used.map((place) => [place, ofPlace(place)])), optional);
}

function contentType(message: Json, use: Use): Compiled {
  const content = message['content'];
  if (content === undefined) return strict({ content: { tsType: 'never' } }, ['content']);
  const media = Object.entries(asObject(content)).map(
    ([type, described]) => [type, typed(asObject(described)['schema'], use)] as const,
  );
  return strict({ content: strict(Object.fromEntries(media)) });
}

type Use = 'request' | 'answer';

/** A schema of the document in the words of the compiler. In requests, undefined is as good as left out. */
function typed(value: unknown, use: Use): Compiled {
  return { ...asObject(rewritten(value, use)) };
}

function rewritten(value: unknown, use: Use): unknown {
  if (Array.isArray(value)) return value.map((item) => rewritten(item, use));
  if (typeof value !== 'object' || value === null) return value;
  const schema = asObject(value);
  if (schema['format'] === 'binary') return { tsType: 'Blob' };
  const required = listIn(schema, 'required');
  const entries = Object.entries(schema).flatMap(([key, inner]): [string, unknown][] => {
    if (DROPPED.has(key)) return [];
    if (key === '$ref' && typeof inner === 'string') {
      return [[key, inner.replace('#/components/schemas/', '#/definitions/')]];
    }
    if (key !== 'properties') return [[key, rewritten(inner, use)]];
    const properties = Object.entries(asObject(inner)).map(([name, property]) => {
      const isOptional = use === 'request' && !required.includes(name);
      const type = rewritten(property, use);
      return [name, isOptional ? { anyOf: [type, { tsType: 'undefined' }] } : type];
    });
    return [[key, Object.fromEntries(properties)]];
  });
  return Object.fromEntries(entries);
}

/** Rules on values, which types do not say; the compiler would print them as comments or take them for more. */
const DROPPED: ReadonlySet<string> = new Set(
  'default description format pattern propertyNames minLength maxLength minimum maximum minItems maxItems'.split(' '),
);

/** An object with these fields, all of them there but the optional ones. */
function strict(properties: Record<string, Compiled>, optional: readonly string[] = []): Compiled {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

function resolved(message: Json, components: Json): Json {
  const reference = message['$ref'];
  if (typeof reference !== 'string') return message;
  return objectIn(objectIn(components, 'responses'), reference.slice(reference.lastIndexOf('/') + 1));
}

function nameOf(parameter: Json): string {
  return String(parameter['name']);
}

function objectIn(holder: Json, name: string): Json {
  return asObject(holder[name]);
}

function listIn(holder: Json, name: string): readonly unknown[] {
  const list = holder[name];
  return Array.isArray(list) ? list : [];
}

function asObject(value: unknown): Json {
  if (typeof value !== 'object' || value === null) throw new Error('the OpenAPI document is not as it should be');
  return Object.fromEntries(Object.entries(value));
}
