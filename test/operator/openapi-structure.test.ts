import { z } from 'zod';
import { ROUTES } from '../../src/contracts/operator-routes';
import type { Route } from '../../src/contracts/routes/route';
import { VIOLATION_FIELDS } from '../../src/contracts/violation/violation-input';
import { PLATE_TYPES, VIOLATION_TYPES } from '../../src/domain/vocabulary';
import { openApiDocument } from '../../tools/openapi/document';

/** Checks the document from its JSON alone, as a client generator reads it. */

const loose = z.looseObject({});
const operation = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()).length(1),
  summary: z.string().min(1),
  parameters: z.array(z.looseObject({ name: z.string(), in: z.enum(['path', 'query', 'header']), schema: loose })),
  requestBody: z.looseObject({ content: z.record(z.string(), z.looseObject({ schema: loose })) }).optional(),
  responses: z.record(z.string(), loose),
});
const document = z
  .looseObject({
    openapi: z.string(),
    tags: z.array(z.object({ name: z.string(), description: z.string() })),
    paths: z.record(z.string(), z.record(z.enum(['get', 'post', 'delete']), operation.optional())),
    webhooks: z.record(z.string(), z.object({ post: operation })),
    components: z.looseObject({ schemas: z.record(z.string(), loose), responses: z.record(z.string(), loose) }),
  })
  .parse(JSON.parse(JSON.stringify(openApiDocument())));

const inPaths = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.values(item).flatMap((found) => (found ? [{ path, ...found }] : [])),
);
const operations = [...inPaths, ...Object.entries(document.webhooks).map(([path, { post }]) => ({ path, ...post }))];

function named(id: string) {
  const found = operations.find(({ operationId }) => operationId === id);
  if (!found) throw new Error(`no operation ${id}`);
  return found;
}

/** The schema of the form that an operation takes. */
function formOf(id: string) {
  return z
    .looseObject({ properties: z.record(z.string(), loose), required: z.array(z.string()) })
    .parse(named(id).requestBody?.content['multipart/form-data']?.schema);
}

/** Every value of this key, at any depth. */
function valuesOf(key: string, value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesOf(key, item));
  if (typeof value !== 'object' || value === null) return [];
  const entries: [string, unknown][] = Object.entries(value);
  return entries.flatMap(([name, inner]) => [...(name === key ? [inner] : []), ...valuesOf(key, inner)]);
}

test('every $ref of the OpenAPI document resolves, and every component is referenced', () => {
  const references = valuesOf('$ref', document).map(String);
  expect(references.length).toBeGreaterThan(100);
  const described = ['schemas', 'responses'].flatMap((kind) =>
    Object.keys(z.record(z.string(), loose).parse(document.components[kind])).map(
      (name) => `#/components/${kind}/${name}`,
    ),
  );
  expect(new Set(references)).toEqual(new Set(described));
});

test('the OpenAPI document has the descriptions of the fields of a fact', () => {
  expect(valuesOf('description', named('started').requestBody)).toEqual([
    'the plate; sent without invisible characters, which the timeline names',
    'the place it was towed from',
    'degrees, from -90 to 90',
    'degrees, from -180 to 180',
    'when it happened, not before the previous fact and at most 2 minutes ahead (default: now)',
  ]);
});

test('every OpenAPI operation has a unique operationId and a described tag', () => {
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(Object.keys(ROUTES)));
  expect(new Set(operations.flatMap(({ tags }) => tags))).toEqual(new Set(document.tags.map(({ name }) => name)));
});

test('every OpenAPI operation declares exactly the parameters of its path', () => {
  for (const { path, parameters } of inPaths) {
    const declared = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `{${name}}`);
    expect(declared).toEqual(path.match(/\{\w+\}/g) ?? []);
  }
});

test('no OpenAPI operation declares a parameter twice', () => {
  for (const { parameters } of operations) {
    const names = parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
    expect(new Set(names).size).toBe(names.length);
  }
});

test.each(Object.entries<Route>(ROUTES))(
  'OpenAPI operation %s documents the refusals that apply to it',
  (name, route) => {
    const statuses = Object.keys(named(name).responses);
    expect(statuses).toEqual(expect.arrayContaining([String(route.status), '401', '429', '503', 'default']));
    expect(statuses.includes('403')).toBe(route.role !== 'viewer');
    expect(statuses.includes('404')).toBe(route.path.includes(':'));
    expect(statuses.includes('413')).toBe(route.body !== undefined);
    expect(statuses.includes('415')).toBe(route.body !== undefined || route.takes === 'form');
    expect(statuses.includes('502')).toBe(['readCapacity', 'checkTicket'].includes(name));
    const ofBodies = route.body ? ['400', '422'] : [];
    expect(statuses).toEqual(expect.arrayContaining(ofBodies));
  },
);

test('the OpenAPI document gives every field of the violation form its type and describes images as binary files', () => {
  const form = formOf('reportViolation');
  expect(form.properties).toMatchObject({
    latitude: { type: 'number', minimum: -90, maximum: 90 },
    longitude: { type: 'number' },
    date: { type: 'string' },
    zoneId: { type: 'string', format: 'uuid' },
    plateType: { enum: PLATE_TYPES },
    violationType: { enum: VIOLATION_TYPES },
    isSaudi: { type: 'boolean' },
    images: { type: 'array', maxItems: 100, items: { type: 'string', format: 'binary' } },
  });
  expect(form.properties['date']?.['description']).toContain('ISO 8601');
  expect(form.properties['metadata']?.['description']).toContain('16384 characters');
  expect(form.required.toSorted()).toEqual([
    'latitude',
    'location',
    'longitude',
    'plateNumber',
    'plateType',
    'violationType',
    'zoneId',
  ]);
});

test('the OpenAPI document gives each free text of the violation form the limit that its contract has', () => {
  const { properties } = formOf('reportViolation');
  const texts = Object.entries(properties).filter(
    ([name, { type, enum: values, format }]) => type === 'string' && !values && !format && name !== 'date',
  );
  expect(texts).toHaveLength(9);
  const fields = new Map<string, z.ZodType>(Object.entries(VIOLATION_FIELDS));
  for (const [name, { maxLength }] of texts) {
    const accepts = (length: number) => fields.get(name)?.safeParse('7'.repeat(length)).success;
    expect([name, accepts(Number(maxLength)), accepts(Number(maxLength) + 1)]).toEqual([name, true, false]);
  }
});

test.each([
  ['reportViolation', false],
  ['replaceViolationImages', true],
  ['addPhotos', true],
])('the OpenAPI document says whether the form of %s needs an image: %s', (id, isNeeded) => {
  expect(formOf(id).required.includes('images')).toBe(isNeeded);
});

test('the OpenAPI document says that the times of facts and corrections need an offset', () => {
  const bodies = ['detained', 'payment', 'correctReport'].map(
    (id) => named(id).requestBody?.content['application/json']?.schema,
  );
  const time = { type: 'string', format: 'date-time' };
  expect(bodies).toMatchObject([
    { properties: { occurred_at: time } },
    { properties: { occurred_at: time } },
    { properties: { status_update_time: time } },
  ]);
  for (const body of bodies) expect(JSON.stringify(body)).toContain('at most 2 minutes ahead');
});

test('the OpenAPI document describes photos as multipart uploads and image downloads', () => {
  expect(Object.keys(named('addPhotos').requestBody?.content ?? {})).toEqual(['multipart/form-data']);
  expect(named('readPhoto').responses['200']).toMatchObject({ content: { 'image/*': {} } });
  expect(named('readViolationImage').responses['200']).toMatchObject({ content: { 'image/*': {} } });
});

test('the OpenAPI document describes the webhook bodies and requires no API key for them', () => {
  const body = named('tow_invoice').requestBody?.content['application/json']?.schema;
  expect(body).toMatchObject({
    required: ['violation_reference_id', 'towing_reference_id', 'towing_invoice'],
    properties: { towing_reference_id: { type: 'string' }, towing_invoice: { type: 'object' } },
  });
  expect(document.webhooks['tow_request']?.post).toMatchObject({ security: [] });
  expect(Object.keys(named('tow_request').responses)).toEqual(['200', '400', '401', '413', '415', '429', '503']);
});
