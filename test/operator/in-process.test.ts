import { ROUTES, type Route } from '../../src/contracts/operator-routes';
import { ROLES } from '../../src/domain/vocabulary';
import type { ApiCall, JsonRoute, OperatorApi } from '../../src/workflow/operator-port';
import { useApp } from '../support/app';
import { call, get, newKey, post, towPath, type Answer } from './client';
import { actorOf, operatorOn, paramsIn, refusalIn, refusalOver, valueIn } from './in-process';
import { scenariosOn } from './scenarios';
import { newViolation } from './violation-world';
import { deliver, newTow, towAfter, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });
let api: OperatorApi;
beforeAll(() => {
  api = operatorOn(app.foundation).api;
});

const ops = actorOf('ops');
const idempotencyKey = 'a-key-of-the-page';

const isJson = (route: Route): route is JsonRoute => route.takes === undefined && route.gives === undefined;
const JSON_ROUTES = Object.entries<Route>(ROUTES).flatMap(([name, route]) => (isJson(route) ? [{ name, route }] : []));
const routeOf = (name: string) => {
  const found = JSON_ROUTES.find((one) => one.name === name);
  if (!found) throw new Error(`no such route: ${name}`);
  return found.route;
};
const shown = (value: unknown) => {
  const { api_key: _secret, ...rest } = Object.fromEntries(Object.entries(value ?? {}));
  return rest;
};

const POSTED = Object.entries(scenariosOn(app)).filter(([name]) => JSON_ROUTES.some((one) => one.name === name));

describe.each(POSTED)('%s', (name, prepare) => {
  const route = routeOf(name);

  it('has one effect and one answer under one key, in process first and then over HTTP', async () => {
    const { path, body, effects } = await prepare();
    const before = await effects();
    const params = paramsIn(route, path);
    const value = valueIn(await api.call(route, { actor: ops, params, body, idempotencyKey }));
    const over = await post(app, path, body, { idempotencyKey });
    expect([over.status, over.json]).toEqual([route.status, shown(value)]);
    expect((await effects()) - before).toBe(1);
    expect(await api.remembers(route, { params, idempotencyKey })).toBe(true);
  });

  it('has one effect and one answer under one key, over HTTP first and then in process', async () => {
    const { path, body, effects } = await prepare();
    const before = await effects();
    const params = paramsIn(route, path);
    expect(await api.remembers(route, { params, idempotencyKey })).toBe(false);
    const over = await post(app, path, body, { idempotencyKey });
    const answer = await api.call(route, { actor: ops, params, body, idempotencyKey });
    expect(valueIn(answer)).toEqual(shown(over.json));
    expect((await effects()) - before).toBe(1);
  });
});

describe('reading', () => {
  it.each<[name: string, prepare: () => Promise<{ path: string; query?: Record<string, string> }>]>([
    ['listTows', async () => ({ path: '/api/tows', query: { q: await towAfter(app, 'started'), limit: '5' } })],
    ['readTow', async () => ({ path: towPath(await towAfter(app, 'started', 'invoice')) })],
    ['listTasks', async () => ({ path: await withTask('/api/tasks') })],
    ['readSending', () => Promise.resolve({ path: '/api/operations' })],
    ['listViolations', async () => ({ path: '/api/violations', query: { q: await newViolation(app) } })],
    ['readViolation', async () => ({ path: `/api/violations/${await newViolation(app)}` })],
    ['listDeliveries', async () => ({ path: await withTask('/api/deliveries') })],
    ['readDelivery', async () => ({ path: `/api/deliveries/${await delivered()}` })],
    ['listQueues', () => Promise.resolve({ path: '/api/queues' })],
    ['readConservation', () => Promise.resolve({ path: '/api/conservation' })],
    ['listApiKeys', async () => ({ path: await withKey('/api/keys') })],
    ['listAudit', async () => ({ path: await withKey('/api/audit'), query: { limit: '3' } })],
  ])('%s shows what HTTP shows, and nothing less', async (name, prepare) => {
    const { path, query = {} } = await prepare();
    const route = routeOf(name);
    const value = valueIn(await api.call(route, { actor: ops, params: paramsIn(route, path), query }));
    const over = await get(app, `${path}?${new URLSearchParams(query).toString()}`);
    expect([over.status, over.json]).toEqual([200, value]);
  });

  async function withTask(path: string): Promise<string> {
    await deliver(app, 'tow_request', { violation_reference_id: 'V-other', towing_reference_id: await newTow(app) });
    return path;
  }

  async function delivered(): Promise<string> {
    return (await deliver(app, 'tow_request', { violation_reference_id: 'V-1', towing_reference_id: 'TW-1' })).id;
  }

  async function withKey(path: string): Promise<string> {
    await newKey(app, 'viewer');
    return path;
  }
});

it.each(
  JSON_ROUTES.flatMap(({ name, route }) =>
    ROLES.slice(0, ROLES.indexOf(route.role)).map((role) => ({ name, route, role })),
  ),
)('$name is refused to the role $role as over HTTP', async ({ route, role }) => {
  const path = route.path.replaceAll(/:\w+/g, 'unknown');
  const answer = await api.call(route, { actor: actorOf(role), params: paramsIn(route, path), body: {} });
  const over = await call(app, [route.method.toUpperCase(), path], { apiKey: await newKey(app, role) });
  expect(refusalIn(answer)).toEqual(refusalOver(over));
  expect(refusalIn(answer)).toMatchObject({ httpStatus: 403, code: 'role_not_allowed', retryAfterMs: null });
});

describe('a refusal is the one that HTTP gives', () => {
  interface Refused {
    readonly path: string;
    readonly query?: Record<string, string>;
    readonly body?: object;
    readonly key?: string;
  }
  it.each<[what: string, name: string, status: number, prepare: () => Promise<Refused>]>([
    [
      'of a field',
      'started',
      422,
      async () => ({ path: towPath(await newTow(app), '/started'), body: { latitude: 'x' } }),
    ],
    [
      'of an unknown field',
      'detained',
      422,
      async () => ({ path: towPath(await newTow(app), '/detained'), body: { x: 1 } }),
    ],
    ['of the query', 'listTows', 422, () => Promise.resolve({ path: '/api/tows', query: { limit: '0', state: 'x' } })],
    ['of the state of things', 'released', 409, async () => ({ path: towPath(await newTow(app), '/released') })],
    ['of what is unknown', 'readTow', 404, () => Promise.resolve({ path: towPath('TW / عربي?') })],
    ['of a task that is gone', 'resolveTask', 404, () => Promise.resolve({ path: '/api/tasks/none/resolve' })],
    ['of a question', 'readCapacity', 422, () => Promise.resolve({ path: '/api/zones/none/capacity' })],
    [
      'of a key that is none',
      'detained',
      422,
      async () => ({ path: towPath(await newTow(app), '/detained'), key: ' ' }),
    ],
    [
      'of a key used for something else',
      'started',
      422,
      async () => {
        const path = towPath(await newTow(app), '/started');
        await post(app, path, WHEREABOUTS, { idempotencyKey });
        return { path, body: { ...WHEREABOUTS, latitude: 20 }, key: idempotencyKey };
      },
    ],
    [
      'of a body that is too large',
      'detained',
      413,
      async () => ({ path: towPath(await newTow(app), '/detained'), body: { occurred_at: 'x'.repeat(100_000) } }),
    ],
  ])('%s: %s %i', async (_what, name, status, prepare) => {
    const { path, query = {}, body, key } = await prepare();
    const route = routeOf(name);
    const keyed = key === undefined ? {} : { idempotencyKey: key };
    const input = { actor: ops, params: paramsIn(route, path), query, ...keyed };
    const refusal = refusalIn(await api.call(route, body === undefined ? input : { ...input, body }));
    const address = `${path}?${new URLSearchParams(query).toString()}`;
    const over: Answer = await call(app, [route.method.toUpperCase(), address, body], keyed);
    expect(refusal).toEqual(refusalOver(over));
    expect(refusal.httpStatus).toBe(status);
  });

  it('and a body that is too large is refused whoever sends it', async () => {
    const body = { occurred_at: 'x'.repeat(100_000) };
    const params = { towing_reference_id: 'TW-1' };
    const answer = await api.call(ROUTES.detained, { actor: actorOf('viewer'), params, body });
    expect(refusalIn(answer).httpStatus).toBe(413);
  });

  it('and a part of the path that is left out names no address', async () => {
    expect(refusalIn(await api.call(ROUTES.readTow, { actor: ops }))).toMatchObject({
      httpStatus: 404,
      code: 'not_found',
    });
    const params = { towing_reference_id: '' };
    expect(await api.remembers(ROUTES.started, { params, idempotencyKey })).toBe(false);
  });
});

describe('a call', () => {
  it('acts under the name of its actor', async () => {
    const params = { towing_reference_id: await newTow(app) };
    const tow = valueIn(await api.call(ROUTES.started, { actor: actorOf('crew'), params, body: WHEREABOUTS }));
    expect(tow.facts).toMatchObject([{ event: 'started', by: 'crew in process' }]);
  });

  it('leaves members out that are undefined, as JSON does, also where its key tells it from another', async () => {
    const ref = await newTow(app);
    const [params, body] = [{ towing_reference_id: ref }, { ...WHEREABOUTS, occurred_at: undefined }];
    const value = valueIn(await api.call(ROUTES.started, { actor: ops, params, body, idempotencyKey }));
    expect((await post(app, towPath(ref, '/started'), WHEREABOUTS, { idempotencyKey })).json).toEqual(value);
  });

  it('shows a new key once: the same call under the same key shows the rest of the answer', async () => {
    const input = { actor: ops, body: { name: 'yard', role: 'crew' }, idempotencyKey };
    const first = valueIn(await api.call(ROUTES.createApiKey, input));
    const second = valueIn(await api.call(ROUTES.createApiKey, input));
    if (!('api_key' in first)) throw new Error('the key was not shown');
    expect((await get(app, '/api/tows', { apiKey: first.api_key })).status).toBe(200);
    const { api_key: _text, ...rest } = first;
    expect(second).toEqual(rest);
  });

  it('of what answers nothing has the value null', async () => {
    const made = valueIn(await api.call(ROUTES.createApiKey, { actor: ops, body: { name: 'yard', role: 'crew' } }));
    expect(valueIn(await api.call(ROUTES.revokeApiKey, { actor: ops, params: { key_id: made.id } }))).toBeNull();
  });

  it('to a route that takes or gives what JSON cannot carry is a fault of the caller', async () => {
    const untyped: { call(route: Route, call: ApiCall): Promise<unknown> } = api;
    for (const route of [ROUTES.reportViolation, ROUTES.readViolationImage]) {
      const params = { violation_id: 'x', image_number: '1' };
      await expect(untyped.call(route, { actor: ops, params })).rejects.toThrow(route.path);
    }
  });

  it('rejects while the store takes no writes, and has its one effect when it is repeated under its key', async () => {
    const params = { towing_reference_id: await newTow(app) };
    const attempt = () => api.call(ROUTES.started, { actor: ops, params, body: WHEREABOUTS, idempotencyKey });
    await app.redis.ask('CONFIG', 'SET', 'maxmemory', '100kb');
    try {
      await expect(attempt()).rejects.toThrow('OOM');
    } finally {
      await app.redis.ask('CONFIG', 'SET', 'maxmemory', '0');
    }
    expect(valueIn(await attempt()).facts).toHaveLength(1);
  });
});
