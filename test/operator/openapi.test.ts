import { CHANGE_TYPES } from '../../src/domain/ops/changes';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ROUTES } from '../../src/contracts/operator-routes';
import type { Route } from '../../src/contracts/routes/route';
import { useApp } from '../support/app';
import { api } from './client';
import { PROJECT } from '../support/project';

const app = useApp({ role: 'console' });

const operation = z.looseObject({
  operationId: z.string(),
  description: z.string(),
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string(), required: z.boolean() })),
  requestBody: z.looseObject({}).optional(),
  responses: z.record(z.string(), z.looseObject({})),
});
const document = z.looseObject({
  openapi: z.string(),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  webhooks: z.record(z.string(), z.looseObject({ post: z.looseObject({}) })),
});

async function served() {
  const response = await api(app).get('/openapi.json');
  return document.parse(response.body);
}

it('serves the committed OpenAPI document', async () => {
  const committed: unknown = JSON.parse(await readFile(join(PROJECT, 'openapi.json'), 'utf8'));
  const response = await api(app).get('/openapi.json').expect(200);
  expect(response.body).toEqual(committed);
  expect((await served()).openapi).toMatch(/^3\.1\./);
});

it.each(Object.entries<Route>(ROUTES))(
  'the OpenAPI document describes %s with its role, parameters, body and responses',
  async (name, route) => {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    const described = (await served()).paths[path]?.[route.method];
    expect(described?.operationId).toBe(name);
    expect(described?.description).toContain(route.role);
    expect(Object.keys(described?.responses ?? {})).toEqual(expect.arrayContaining([String(route.status), 'default']));
    expect(described?.requestBody === undefined).toBe(route.body === undefined);
    const inPath = described?.parameters.filter((parameter) => parameter.in === 'path') ?? [];
    expect(inPath.map((parameter) => `{${parameter.name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    const takesKey = described?.parameters.some((parameter) => parameter.name === 'Idempotency-Key');
    // A POST that asks the service, or sends a test, changes nothing and answers 200.
    expect(takesKey).toBe(route.method === 'post' && route.status !== 200);
  },
);

it.each(['/api/keys', '/api/keys/{key_id}/rotate'])(
  'the OpenAPI document describes the answer to a repeated POST %s, which has no secret',
  async (path) => {
    const { responses } = (await served()).paths[path]?.['post'] ?? {};
    const schema = { anyOf: [{ $ref: '#/components/schemas/NewApiKey' }, { $ref: '#/components/schemas/ApiKey' }] };
    const contents = Object.values(responses ?? {}).map((response) => response['content']);
    expect(contents).toContainEqual({ 'application/json': { schema } });
  },
);

it('the OpenAPI document describes exactly the served routes', async () => {
  const { paths } = await served();
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  const routes = Object.values<Route>(ROUTES).map(
    ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
  );
  const all = [...routes, 'get /api/events'];
  expect(described.toSorted((a, b) => a.localeCompare(b))).toEqual(all.toSorted((a, b) => a.localeCompare(b)));
});

it('the OpenAPI document describes both webhooks of the service, and every type of change', async () => {
  const types = Object.keys(CHANGE_TYPES);
  expect(Object.keys((await served()).webhooks)).toEqual(['tow_request', 'tow_invoice', ...types]);
});
