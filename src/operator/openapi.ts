import { z } from 'zod';
import { eventView } from '../contracts/operator';
import type { Route } from '../contracts/operator-routes';
import { DISPATCH_ROUTES } from '../contracts/routes/dispatch';
import { OPS_ROUTES } from '../contracts/routes/operations';
import { TASK_ROUTES } from '../contracts/routes/tasks';
import { TOW_ROUTES } from '../contracts/routes/tows';
import { VIOLATION_ROUTES } from '../contracts/routes/violations';
import { violationForm } from '../contracts/service';
import { refusalComponents, refusalsOf } from './openapi-answers';
import { createSchemaWriter, type Json, type SchemaWriter } from './openapi-schemas';
import { webhooksDescribed } from './openapi-webhooks';

/** The routes in the groups that readers see. */
const GROUPS: readonly { name: string; description: string; routes: Readonly<Record<string, Route>> }[] = [
  { name: 'Tows', description: 'What people see of a tow, say about it and decide.', routes: TOW_ROUTES },
  { name: 'Dispatch', description: 'What the operator keeps of a tow for itself.', routes: DISPATCH_ROUTES },
  {
    name: 'Violations',
    description: 'Violations, and what can be asked of the service before one is reported.',
    routes: VIOLATION_ROUTES,
  },
  { name: 'Tasks', description: 'What people must decide, and what holds sending.', routes: TASK_ROUTES },
  { name: 'Operations', description: 'Deliveries, queues, conservation, keys and audit.', routes: OPS_ROUTES },
];

/** The OpenAPI 3.1 document of the operator API and the webhooks, written from the contracts and from nothing else. */
export function openApiDocument(): Json {
  const schemas = createSchemaWriter();
  const paths: Record<string, Json> = {};
  for (const { name: tag, routes } of GROUPS) {
    for (const [name, route] of Object.entries(routes)) {
      const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
      paths[path] = { ...paths[path], [route.method]: operationOf({ name, tag, route }, schemas) };
    }
  }
  paths['/api/events'] = { get: eventStream(schemas) };
  const webhooks = webhooksDescribed(schemas);
  const responses = refusalComponents(schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'towhook',
      version: '1',
      summary: "The operator's side of a parking service's towing conversation.",
      description: DESCRIPTION,
      license: { name: 'MIT' },
    },
    // The document is served by what it describes.
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    tags: [
      ...GROUPS.map(({ name, description }) => ({ name, description })),
      { name: 'Webhooks', description: 'What the service posts to the receiver.' },
    ],
    paths,
    webhooks,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key; its role says what it may do.' },
      },
      responses,
      schemas: schemas.components,
    },
  };
}

const DESCRIPTION = `Roles, each with the rights of the ones before it: viewer reads, crew says started and detained, \
dispatcher says all facts and decides, ops runs the house. Every POST takes an \`Idempotency-Key\`: repeated under the \
same key within 24 hours it has its effect once. Every refusal is \`{ code, message, details: [{ field, rule }] }\`.`;

/** Not a route of the table: its answer never ends. */
function eventStream(schemas: SchemaWriter): Json {
  return {
    operationId: 'watchEvents',
    tags: ['Operations'],
    summary: 'Everything that changes, as server-sent events (`event: tow.changed` and others).',
    description:
      'Needs the role viewer. A key has at most 20 streams (429 beyond) and a console 500 (503 beyond). `events.missed` ' +
      'means that more happened than is repeated: read everything again.',
    parameters: [
      {
        name: 'since',
        in: 'query',
        required: false,
        description:
          'Says first what happened from this moment on, at most 60 s back and 1,000 events; of the same thing the last.',
        schema: { type: 'string', format: 'date-time' },
      },
    ],
    responses: {
      200: {
        description: 'Each `data` is one JSON object.',
        content: { 'text/event-stream': { schema: schemas.write(eventView, 'output') } },
      },
      ...refusalsOf({
        method: 'get',
        path: '/api/events',
        role: 'viewer',
        summary: '',
        status: 200,
        answer: eventView,
      }),
    },
  };
}

function operationOf(described: { name: string; tag: string; route: Route }, schemas: SchemaWriter): Json {
  const { name, tag, route } = described;
  return {
    operationId: name,
    tags: [tag],
    summary: route.summary,
    description: `Needs the role ${route.role}.`,
    parameters: [...pathParameters(route.path), ...queryParameters(route, schemas), ...idempotencyKey(route)],
    ...(route.body ? { requestBody: requestBody(route.body, route, schemas) } : {}),
    responses: { [route.status]: answerOf(route, schemas), ...refusalsOf(route) },
  };
}

function answerOf(route: Route, schemas: SchemaWriter): Json {
  if (route.status === 204) return { description: 'Done.' };
  if (route.gives === 'image') return { description: 'The image.', content: { 'image/*': { schema: BINARY } } };
  return { description: 'Done.', content: { 'application/json': { schema: schemas.write(route.answer, 'output') } } };
}

const BINARY = { type: 'string', format: 'binary' };

function requestBody(body: z.ZodType, route: Route, schemas: SchemaWriter): Json {
  if (route.takes !== 'form') {
    // A body without required fields may be left out.
    const required = !body.safeParse({}).success;
    return { required, content: { 'application/json': { schema: schemas.write(body, 'input') } } };
  }
  const fields = route.path === VIOLATION_ROUTES.reportViolation.path ? violationFields : z.strictObject({});
  const images = { type: 'array', description: 'The images, at most 10 MiB in all.', items: BINARY };
  const written = z.record(z.string(), z.unknown()).parse(schemas.write(fields, 'input'));
  const properties = z.record(z.string(), z.unknown()).parse(written['properties']);
  const encoding = { images: { contentType: 'image/*' } };
  const schema = { ...written, properties: { ...properties, images } };
  return { required: true, content: { 'multipart/form-data': { schema, encoding } } };
}

/** The fields as they are meant (service-api 2.1); on the wire each is text. */
const violationFields = violationForm.extend({
  date: z.iso.datetime({ offset: true }).optional(),
});

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(route: Route, schemas: SchemaWriter): Json[] {
  if (!(route.query instanceof z.ZodObject)) return [];
  return Object.entries<z.core.$ZodType>(route.query.shape).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: schemas.write(schema, 'input'),
  }));
}

function idempotencyKey(route: Route): Json[] {
  if (route.method !== 'post') return [];
  return [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', maxLength: 255 } }];
}
