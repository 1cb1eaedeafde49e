import { compile } from 'json-schema-to-typescript';
import { formatted } from '../formatted';

/**
 * Generates the client types: `paths` for openapi-fetch, compiled by json-schema-to-typescript from one schema. It replaces
 * openapi-typescript, which needs TypeScript 5 as a peer, while the project uses TypeScript 7.
 */

type DocumentObject = Readonly<Record<string, unknown>>;
type TypeSchema = Parameters<typeof compile>[0];

const BANNER = `/**
 * The operator API as types, for openapi-fetch. Generated from the OpenAPI document by \`npm run generate\`: change the
 * contracts, not this file.
 */
`;
const METHODS = ['get', 'post', 'delete'] as const;

/** Returns the text of `src/client/paths.ts`. Rejects for an invalid document. */
export async function clientPaths(document: DocumentObject): Promise<string> {
  const components = objectIn(document, 'components');
  const paths = Object.entries(objectIn(document, 'paths'));
  const schema: TypeSchema = {
    ...strict(Object.fromEntries(paths.map(([path, item]) => [path, pathItem(asObject(item), components)]))),
    definitions: Object.fromEntries(
      Object.entries(objectIn(components, 'schemas')).map(([name, definition]) => [name, typed(definition, 'answer')]),
    ),
  };
  const text = await compile(schema, 'paths', { bannerComment: BANNER, additionalProperties: false, format: false });
  // openapi-fetch expects numeric statuses and an interface named `paths`.
  const numbered = text.replaceAll(/"(\d{3})":/g, '$1:').replace('export interface Paths ', 'export interface paths ');
  return formatted('paths.ts', numbered);
}

function pathItem(item: DocumentObject, components: DocumentObject): TypeSchema {
  const operations = METHODS.flatMap((method) => {
    const operation = item[method];
    return operation === undefined ? [] : [[method, operationType(asObject(operation), components)] as const];
  });
  return strict(Object.fromEntries(operations));
}

function operationType(operation: DocumentObject, components: DocumentObject): TypeSchema {
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

/** Parameters by place: path, query and header. Optional ones may also be undefined. */
function parametersType(parameters: readonly unknown[]): TypeSchema {
  const places = ['path', 'query', 'header'] as const;
  const listed = parameters.map(asObject);
  const used = places.filter((place) => listed.some((parameter) => parameter['in'] === place));
  const optional = used.filter((place) =>
    listed.every((parameter) => parameter['in'] !== place || parameter['required'] !== true),
  );
  const ofPlace = (place: string): TypeSchema => {
    const here = listed.filter((parameter) => parameter['in'] === place);
    const required = here.filter((parameter) => parameter['required'] === true).map(nameOf);
    const properties = Object.fromEntries(here.map((parameter) => [nameOf(parameter), parameter['schema']]));
    return typed({ type: 'object', properties, required, additionalProperties: false }, 'request');
  };
  return strict(Object.fromEntries(used.map((place) => [place, ofPlace(place)])), optional);
}

function contentType(message: DocumentObject, use: Use): TypeSchema {
  const content = message['content'];
  if (content === undefined) return strict({ content: { tsType: 'never' } }, ['content']);
  const media = Object.entries(asObject(content)).map(
    ([type, described]) => [type, typed(asObject(described)['schema'], use)] as const,
  );
  return strict({ content: strict(Object.fromEntries(media)) });
}

type Use = 'request' | 'answer';

/** Converts a schema of the document for the compiler. Optional fields of requests may also be undefined. */
function typed(value: unknown, use: Use): TypeSchema {
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

/** Keywords that types cannot express. The compiler would print them as comments or misread them. */
const DROPPED: ReadonlySet<string> = new Set(
  'default description format pattern propertyNames minLength maxLength minimum maximum minItems maxItems'.split(' '),
);

/** An object schema with exactly these properties, required unless optional. */
function strict(properties: Record<string, TypeSchema>, optional: readonly string[] = []): TypeSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

function resolved(message: DocumentObject, components: DocumentObject): DocumentObject {
  const reference = message['$ref'];
  if (typeof reference !== 'string') return message;
  return objectIn(objectIn(components, 'responses'), reference.slice(reference.lastIndexOf('/') + 1));
}

function nameOf(parameter: DocumentObject): string {
  return String(parameter['name']);
}

function objectIn(holder: DocumentObject, name: string): DocumentObject {
  return asObject(holder[name]);
}

function listIn(holder: DocumentObject, name: string): readonly unknown[] {
  const list = holder[name];
  return Array.isArray(list) ? list : [];
}

function asObject(value: unknown): DocumentObject {
  if (typeof value !== 'object' || value === null)
    throw new Error('the OpenAPI document has no object where one is expected');
  return Object.fromEntries(Object.entries(value));
}
