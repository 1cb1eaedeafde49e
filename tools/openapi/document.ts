import { z } from 'zod';
import { plateText } from '../../src/domain/input-schemas';
import { ACCEPT_DAMAGED_IMAGES, FORM_IMAGES_MAX, metadata, violationTime } from '../../src/contracts/common';
import { eventsQuery, eventView } from '../../src/contracts/ops/changes';
import { DISPATCH_ROUTES } from '../../src/contracts/routes/dispatch';
import { NOTIFICATION_ROUTES, OPS_ROUTES } from '../../src/contracts/routes/operations';
import { type Route, answerContract } from '../../src/contracts/routes/route';
import { RUN_ROUTES } from '../../src/contracts/routes/runs';
import { WITHHELD_ROUTES } from '../../src/contracts/routes/withheld';
import { SUBSCRIPTION_ROUTES } from '../../src/contracts/routes/subscriptions';
import { TASK_ROUTES } from '../../src/contracts/routes/tasks';
import { TOW_ROUTES } from '../../src/contracts/routes/tows';
import { VIOLATION_ROUTES } from '../../src/contracts/routes/violations';
import { violationForm } from '../../src/contracts/service/service';
import { VIOLATION_TEXT_MAX } from '../../src/contracts/violation/violation-input';
import { METADATA_TEXT_MAX } from '../../src/contracts/violation/violation-metadata';
import { isChange, refusalComponents, refusalsOf } from './refusals';
import { createSchemaWriter, type OpenApiObject, type SchemaWriter } from './schemas';
import { webhooksDescribed } from './webhooks';

/** A tag of the document with its routes. */
export interface RouteGroup {
  readonly name: string;
  readonly description: string;
  readonly routes: Readonly<Record<string, Route>>;
}

const GROUPS: readonly RouteGroup[] = [
  { name: 'Tows', description: 'Tows: read them, record facts, decide about reports.', routes: TOW_ROUTES },
  {
    name: 'Dispatch',
    description: "The operator's own records of a tow, which are never sent to the service.",
    routes: DISPATCH_ROUTES,
  },
  {
    name: 'Violations',
    description: 'Violations, and the questions to the service before one is reported.',
    routes: VIOLATION_ROUTES,
  },
  { name: 'Tasks', description: 'What a person must decide, and what blocks sending.', routes: TASK_ROUTES },
  {
    name: 'Runs',
    description: 'One decision on many records: previewed, started, followed and aborted.',
    routes: RUN_ROUTES,
  },
  {
    name: 'Shadow mode',
    description: 'What would have been sent, and the decision to send it after all.',
    routes: WITHHELD_ROUTES,
  },
  {
    name: 'Operations',
    description: 'Deliveries, queues, conservation check, API keys and audit log.',
    routes: OPS_ROUTES,
  },
  {
    name: 'Notifications',
    description: 'Alarms and the notifications about them.',
    routes: NOTIFICATION_ROUTES,
  },
  { name: 'Subscriptions', description: 'Changes posted to an address.', routes: SUBSCRIPTION_ROUTES },
];

/**
 * Builds the OpenAPI 3.1 document of the operator API and the webhooks from the contracts. zod writes the schemas.
 * @asteasolutions/zod-to-openapi was tried and does not fit: it has one schema for requests and answers, so an answer field
 * with a default is not required, and it must patch zod before the contracts are loaded.
 */
export function openApiDocument(groups: readonly RouteGroup[] = GROUPS): OpenApiObject {
  const schemas = createSchemaWriter();
  const paths: Record<string, OpenApiObject> = {};
  for (const { name: tag, routes } of groups) {
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
    // Relative to the address of the document, which may be below a path.
    servers: [{ url: './' }],
    security: [{ apiKey: [] }],
    tags: [
      ...groups.map(({ name, description }) => ({ name, description })),
      { name: 'Webhooks', description: 'What the service posts to the receiver.' },
    ],
    paths,
    webhooks,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key. Its role determines what it may do.' },
      },
      responses,
      schemas: schemas.components,
    },
  };
}

const DESCRIPTION = `Each role includes the rights of the roles before it: viewer reads; crew records started and detained; \
dispatcher records all facts and decides; ops administers. Every POST that changes something takes an \`Idempotency-Key\`. A \
success is remembered for 24 hours: a repeat gets the same answer, without the text of a new key. A refusal is not remembered, so \
the same key may be tried again. Every refusal is \`{ code, message, details: [{ field, rule }] }\`.`;

/** Not in the route table, because its answer is an endless stream. */
function eventStream(schemas: SchemaWriter): OpenApiObject {
  return {
    operationId: 'watchEvents',
    tags: ['Operations'],
    summary: 'All changes as server-sent events, each with its cursor as `id`.',
    description:
      'Needs the role viewer. An API key may have 20 streams (else 429), a console 500 (else 503). `events.missed` means that ' +
      'the changes since then cannot be repeated, or are more than 1,000: read everything again.',
    parameters: [
      {
        name: 'after',
        in: 'query',
        required: false,
        description:
          'A cursor of GET /api/changes: what happened after it comes first. The header `Last-Event-ID` comes before it.',
        schema: { type: 'string' },
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
        query: eventsQuery,
        status: 200,
        answer: eventView,
      }),
    },
  };
}

function operationOf(described: { name: string; tag: string; route: Route }, schemas: SchemaWriter): OpenApiObject {
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

function answerOf(route: Route, schemas: SchemaWriter): OpenApiObject {
  if (route.status === 204) return { description: 'Done.' };
  if (route.gives === 'image') return { description: 'The image.', content: { 'image/*': { schema: BINARY } } };
  if (route.gives === 'csv')
    return { description: 'The CSV.', content: { 'text/csv': { schema: { type: 'string' } } } };
  const description = route.again ? 'Done. A repeated request under its Idempotency-Key gets no secret.' : 'Done.';
  return { description, content: { 'application/json': { schema: schemas.write(answerContract(route), 'output') } } };
}

const BINARY = { type: 'string', format: 'binary' };

function requestBody(body: z.ZodType, route: Route, schemas: SchemaWriter): OpenApiObject {
  if (route.takes !== 'form') {
    // A body is optional when none of its fields is required.
    const required = !body.safeParse({}).success;
    return { required, content: { 'application/json': { schema: schemas.write(body, 'input') } } };
  }
  const fields = FORM_FIELDS[route.path] ?? z.strictObject({});
  const images = {
    type: 'array',
    description: 'The images, at most `IMAGES_TOTAL_BYTES_MAX` bytes in all, each a file with a name.',
    maxItems: FORM_IMAGES_MAX,
    items: BINARY,
  };
  const acceptsDamaged = {
    type: 'boolean',
    description: 'Takes images of which a part is missing. Such an image is refused without it.',
    default: false,
  };
  const { properties, required = [], ...written } = formSchema.parse(schemas.write(fields, 'input'));
  const encoding = { images: { contentType: 'image/*' } };
  const schema = {
    ...written,
    properties: { ...properties, images, [ACCEPT_DAMAGED_IMAGES]: acceptsDamaged },
    required: WITHOUT_IMAGES.includes(route.path) ? required : [...required, 'images'],
  };
  return { required: true, content: { 'multipart/form-data': { schema, encoding } } };
}

const formSchema = z.looseObject({
  properties: z.record(z.string(), z.unknown()),
  required: z.array(z.string()).optional(),
});

const line = z.string().max(VIOLATION_TEXT_MAX);
/** The fields as they are meant (docs/service-api.md#violation-form), with our limits; on the wire each is text. */
const violationFields = violationForm.extend({
  date: violationTime.optional(),
  location: line.min(1),
  plateNumber: plateText(),
  imagesDescription: line.optional(),
  metadata: metadata.optional().describe(`a JSON object, as text of at most ${METADATA_TEXT_MAX} characters`),
  fullName: line.optional(),
  identityNumber: line.optional(),
  mobileNumber: line.optional(),
  supervisorFullName: line.optional(),
  supervisorIdentityNumber: line.optional(),
  supervisorMobileNumber: line.optional(),
});

/** Forms that are complete without an image. */
const WITHOUT_IMAGES: readonly string[] = [VIOLATION_ROUTES.reportViolation.path];

/** The fields of each form, images aside. */
const FORM_FIELDS: Readonly<Record<string, z.ZodType>> = {
  [VIOLATION_ROUTES.reportViolation.path]: violationFields,
  [VIOLATION_ROUTES.replaceViolationImages.path]: violationFields.omit({ metadata: true }).partial(),
};

function pathParameters(path: string): OpenApiObject[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(route: Route, schemas: SchemaWriter): OpenApiObject[] {
  if (!(route.query instanceof z.ZodObject)) return [];
  return Object.entries<z.core.$ZodType>(route.query.shape).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: schemas.write(schema, 'input'),
  }));
}

function idempotencyKey(route: Route): OpenApiObject[] {
  if (!isChange(route)) return [];
  return [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', maxLength: 255 } }];
}
