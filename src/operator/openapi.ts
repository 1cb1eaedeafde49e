import { z } from 'zod';
import { errorView, eventView } from '../contracts/operator';
import { ROUTES, type Route } from '../contracts/operator-routes';
import { WEBHOOKS } from '../contracts/webhooks';

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of the operator API and the webhooks, written from the contracts and from nothing else. */
export function openApiDocument(): Json {
  const paths: Record<string, Json> = {};
  for (const [name, route] of Object.entries<Route>(ROUTES)) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: operationOf(name, route) };
  }
  paths['/api/events'] = { get: eventStream };
  return {
    openapi: '3.1.0',
    info: {
      title: 'towhook',
      version: '1',
      description: "The operator's side of a parking service's towing conversation.",
    },
    security: [{ apiKey: [] }],
    components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
    paths,
    webhooks: Object.fromEntries(
      Object.entries(WEBHOOKS).map(([kind, { path, body }]) => [
        kind,
        {
          post: {
            summary: `Posted by the service to {operator_base_url}${path}.`,
            requestBody: content(body, 'input'),
            responses: {
              200: { description: 'Stored now or before.' },
              400: { description: 'Breaks the contract; the field and the rule are named.' },
              401: { description: 'The signature or the shared secret is wrong.' },
              503: { description: 'Could not be stored; send it again.' },
            },
          },
        },
      ]),
    ),
  };
}

/** Not a route of the table: its answer never ends. */
const eventStream: Json = {
  operationId: 'watchEvents',
  summary: 'Everything that changes, as server-sent events (`event: tow.changed` and others).',
  description: 'Needs the role viewer.',
  parameters: [],
  responses: {
    200: {
      description: 'Each `data` is one JSON object.',
      content: { 'text/event-stream': { schema: schemaOf(eventView, 'output') } },
    },
  },
};

function operationOf(name: string, route: Route): Json {
  return {
    operationId: name,
    summary: route.summary,
    description: `Needs the role ${route.role}.`,
    parameters: [...pathParameters(route.path), ...queryParameters(route), ...idempotencyKey(route)],
    ...(route.body ? { requestBody: content(route.body, 'input') } : {}),
    responses: {
      [route.status]: {
        description: 'Done.',
        ...(route.status === 204 ? {} : { content: content(route.answer, 'output')['content'] }),
      },
      default: { description: 'Refused; the code says why.', content: content(errorView, 'output')['content'] },
    },
  };
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(route: Route): Json[] {
  if (!(route.query instanceof z.ZodObject)) return [];
  return Object.entries<z.core.$ZodType>(route.query.shape).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: schemaOf(schema, 'input'),
  }));
}

function idempotencyKey(route: Route): Json[] {
  if (route.method !== 'post') return [];
  return [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', maxLength: 255 } }];
}

function content(schema: z.core.$ZodType, io: 'input' | 'output'): Json {
  return { content: { 'application/json': { schema: schemaOf(schema, io) } } };
}

function schemaOf(schema: z.core.$ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, '~standard': _standard, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}
