import { ROUTES } from '../../src/contracts/operator-routes';
import type { Route } from '../../src/contracts/routes/route';
import { ROLES } from '../../src/domain/vocabulary';
import type { ApiCall, JsonRoute, OperatorApi } from '../../src/workflow/operator-port';
import { useApp } from '../support/app';
import { api, newKey, towPath } from './client';
import { actorOf, operatorOn, paramsIn, refusalIn, refusalOver, valueIn } from './in-process';
import { scenariosOn } from './scenarios';
import { deliver, newTow, newViolation, towAfter, WHEREABOUTS } from './world';

const app = useApp({ role: 'console', ownRedis: true });
let operator: OperatorApi;
beforeAll(() => {
  operator = operatorOn(app.foundation).api;
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
  const { api_key: _key, secret: _secret, ...rest } = Object.fromEntries(Object.entries(value ?? {}));
  return rest;
};

const POSTED = Object.entries(scenariosOn(app)).filter(([name]) => JSON_ROUTES.some((one) => one.name === name));

describe.each(POSTED)('operator API in process: %s', (name, prepare) => {
  const route = routeOf(name);

  it(`gives ${name} one effect and one answer under one Idempotency-Key, in process, over HTTP and in process again`, async () => {
    const { path, body, effects } = await prepare();
    const before = await effects();
    const params = paramsIn(route, path);
    const call = async () => valueIn(await operator.call(route, { actor: ops, params, body, idempotencyKey }));
    expect(await operator.hadEffect(route, { params, idempotencyKey })).toBe(false);
    const first = shown(await call());
    const over = await api(app).post(path).set('idempotency-key', idempotencyKey).send(body);
    expect([over.status, over.body]).toEqual([route.status, first]);
    expect(shown(await call())).toEqual(first);
    expect((await effects()) - before).toBe(1);
    expect(await operator.hadEffect(route, { params, idempotencyKey })).toBe(true);
  });
});

describe('operator API in process: reads', () => {
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
  ])('returns the same answer to %s in process as over HTTP', async (name, prepare) => {
    const { path, query = {} } = await prepare();
    const route = routeOf(name);
    const value = valueIn(await operator.call(route, { actor: ops, params: paramsIn(route, path), query }));
    const over = await api(app).get(path).query(query);
    expect([over.status, over.body]).toEqual([200, value]);
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
)('refuses the role $role the route $name in process as over HTTP', async ({ route, role }) => {
  const path = route.path.replaceAll(/:\w+/g, 'unknown');
  const result = await operator.call(route, { actor: actorOf(role), params: paramsIn(route, path), body: {} });
  const over = await api(app, await newKey(app, role))[route.method](path);
  expect(refusalIn(result)).toEqual(refusalOver(over));
  expect(refusalIn(result)).toMatchObject({ httpStatus: 403, code: 'role_not_allowed', retryAfterMs: null });
});

describe('operator API in process: refusals', () => {
  interface RefusedCall {
    readonly path: string;
    readonly query?: Record<string, string>;
    readonly body?: object;
    readonly key?: string;
  }
  it.each<[what: string, name: string, status: number, prepare: () => Promise<RefusedCall>]>([
    [
      'an invalid field',
      'started',
      422,
      async () => ({ path: towPath(await newTow(app), '/started'), body: { latitude: 'x' } }),
    ],
    [
      'an unknown field',
      'detained',
      422,
      async () => ({ path: towPath(await newTow(app), '/detained'), body: { x: 1 } }),
    ],
    [
      'an invalid query',
      'listTows',
      422,
      () => Promise.resolve({ path: '/api/tows', query: { limit: '0', state: 'x' } }),
    ],
    [
      'a state that does not permit it',
      'released',
      409,
      async () => ({ path: towPath(await newTow(app), '/released') }),
    ],
    ['an unknown tow', 'readTow', 404, () => Promise.resolve({ path: towPath('TW / عربي?') })],
    ['an unknown task', 'resolveTask', 404, () => Promise.resolve({ path: '/api/tasks/none/resolve' })],
    ['an invalid lookup', 'readCapacity', 422, () => Promise.resolve({ path: '/api/zones/none/capacity' })],
    [
      'an invalid Idempotency-Key',
      'detained',
      422,
      async () => ({ path: towPath(await newTow(app), '/detained'), key: ' ' }),
    ],
    [
      'an Idempotency-Key used for another body',
      'started',
      422,
      async () => {
        const path = towPath(await newTow(app), '/started');
        await api(app).post(path).set('idempotency-key', idempotencyKey).send(WHEREABOUTS);
        return { path, body: { ...WHEREABOUTS, latitude: 20 }, key: idempotencyKey };
      },
    ],
    [
      'a body that is too large',
      'detained',
      413,
      async () => ({ path: towPath(await newTow(app), '/detained'), body: { occurred_at: 'x'.repeat(100_000) } }),
    ],
  ])('refuses a call with %s in process as over HTTP: %s is answered %i', async (_what, name, status, prepare) => {
    const { path, query = {}, body, key } = await prepare();
    const route = routeOf(name);
    const keyed = key === undefined ? {} : { idempotencyKey: key };
    const input = { actor: ops, params: paramsIn(route, path), query, ...keyed };
    const refusal = refusalIn(await operator.call(route, body === undefined ? input : { ...input, body }));
    const headers = key === undefined ? {} : { 'idempotency-key': key };
    const over = await api(app)[route.method](path).query(query).set(headers).send(body);
    expect(refusal).toEqual(refusalOver(over));
    expect(refusal.httpStatus).toBe(status);
  });

  it('refuses a body that is too large with 413 in process also for a role that may not send it', async () => {
    const body = { occurred_at: 'x'.repeat(100_000) };
    const params = { towing_reference_id: 'TW-1' };
    const result = await operator.call(ROUTES.detained, { actor: actorOf('viewer'), params, body });
    expect(refusalIn(result).httpStatus).toBe(413);
  });

  it('answers a call in process without a path parameter with 404', async () => {
    expect(refusalIn(await operator.call(ROUTES.readTow, { actor: ops }))).toMatchObject({
      httpStatus: 404,
      code: 'not_found',
    });
    const params = { towing_reference_id: '' };
    expect(await operator.hadEffect(ROUTES.started, { params, idempotencyKey })).toBe(false);
  });
});

describe('operator API in process: calls', () => {
  it('records the name of the actor of a call in process', async () => {
    const params = { towing_reference_id: await newTow(app) };
    const tow = valueIn(await operator.call(ROUTES.started, { actor: actorOf('crew'), params, body: WHEREABOUTS }));
    expect(tow.facts).toMatchObject([{ event: 'started', by: 'crew in process' }]);
  });

  it('ignores undefined members of a body in process, as JSON does, also when it compares bodies under an Idempotency-Key', async () => {
    const ref = await newTow(app);
    const [params, body] = [{ towing_reference_id: ref }, { ...WHEREABOUTS, occurred_at: undefined }];
    const value = valueIn(await operator.call(ROUTES.started, { actor: ops, params, body, idempotencyKey }));
    expect(
      (await api(app).post(towPath(ref, '/started')).set('idempotency-key', idempotencyKey).send(WHEREABOUTS)).body,
    ).toEqual(value);
  });

  it('returns the text of a new API key once in process: a repeated call returns the rest of the answer', async () => {
    const input = { actor: ops, body: { name: 'yard', role: 'crew' }, idempotencyKey };
    const first = valueIn(await operator.call(ROUTES.createApiKey, input));
    const second = valueIn(await operator.call(ROUTES.createApiKey, input));
    if (!('api_key' in first)) throw new Error('the key was not shown');
    await api(app, first.api_key).get('/api/tows').expect(200);
    const { api_key: _text, ...rest } = first;
    expect(second).toEqual(rest);
  });

  it('returns null in process for a route without a response body', async () => {
    const made = valueIn(
      await operator.call(ROUTES.createApiKey, { actor: ops, body: { name: 'yard', role: 'crew' } }),
    );
    expect(valueIn(await operator.call(ROUTES.revokeApiKey, { actor: ops, params: { key_id: made.id } }))).toBeNull();
  });

  it('rejects a call in process to a route whose request or response is not JSON', async () => {
    const untyped: { call(route: Route, call: ApiCall): Promise<unknown> } = operator;
    for (const route of [ROUTES.reportViolation, ROUTES.readViolationImage]) {
      const params = { violation_id: 'x', image_number: '1' };
      await expect(untyped.call(route, { actor: ops, params })).rejects.toThrow(route.path);
    }
  });

  it('rejects a call in process while Redis refuses writes, and has one effect when it is repeated under its Idempotency-Key', async () => {
    const params = { towing_reference_id: await newTow(app) };
    const attempt = () => operator.call(ROUTES.started, { actor: ops, params, body: WHEREABOUTS, idempotencyKey });
    await app.redis.ask('CONFIG', 'SET', 'maxmemory', '100kb');
    try {
      await expect(attempt()).rejects.toThrow('OOM');
    } finally {
      await app.redis.ask('CONFIG', 'SET', 'maxmemory', '0');
    }
    expect(valueIn(await attempt()).facts).toHaveLength(1);
  });
});
