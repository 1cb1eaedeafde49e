import { ROUTES, type Route } from '../../src/contracts/operator-routes';
import { ROLES, type Role } from '../../src/domain/vocabulary';
import { startApp, useApp } from '../support/app';
import { call, errorOf, get, newKey, post } from './client';
import { ZONE } from './lookup-world';
import { WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });

type RouteName = keyof typeof ROUTES;

/**
 * The weakest role for each address, a body that keeps its contract, and what it answers to whoever may call it while
 * nothing is known by the names in its path.
 */
const EXPECTED: Readonly<Record<RouteName, readonly [weakest: Role, status: number, body?: object]>> = {
  listTows: ['viewer', 200],
  readTow: ['viewer', 404],
  started: ['crew', 404, WHEREABOUTS],
  detained: ['crew', 404, {}],
  canceled: ['dispatcher', 404, { cancellation_reason: 'gone' }],
  released: ['dispatcher', 404, {}],
  invoice: ['dispatcher', 404, { vehicle_type: 'HEAVY' }],
  payment: ['dispatcher', 404, {}],
  assignTow: ['dispatcher', 404, { crew: 'Crew 7' }],
  recordStep: ['crew', 404, { step: 'en_route' }],
  setYard: ['crew', 404, { yard: 'North' }],
  placeHold: ['dispatcher', 404, { reason: 'police' }],
  liftHold: ['dispatcher', 404, { reason: 'settled' }],
  addNote: ['crew', 404, { text: 'gate closes at 22:00' }],
  retryReport: ['dispatcher', 404, {}],
  correctReport: ['dispatcher', 404, { plate_number: 'ABJ 1' }],
  waiveReport: ['dispatcher', 404, { reason: 'seen' }],
  acceptReport: ['dispatcher', 404, { reason: 'seen' }],
  linkViolation: ['dispatcher', 404, { violation_id: 'unknown' }],
  addPhotos: ['crew', 415, {}],
  readPhoto: ['viewer', 404],
  reportViolation: ['dispatcher', 415, {}],
  listViolations: ['viewer', 200],
  readViolation: ['viewer', 404],
  readViolationImage: ['viewer', 404],
  retryViolation: ['dispatcher', 404, {}],
  correctViolation: ['dispatcher', 404, { location: 'Olaya Street' }],
  waiveViolation: ['dispatcher', 404, { reason: 'seen' }],
  acceptViolation: ['dispatcher', 404, { reason: 'seen' }],
  readCapacity: ['viewer', 422],
  // Their service cannot be reached.
  checkTicket: ['crew', 503, { zoneId: ZONE, plateNumber: 'ABJ 1234', plateType: 'PRIVATE' }],
  listTasks: ['viewer', 200],
  resolveTask: ['dispatcher', 404, {}],
  readSending: ['viewer', 200],
  resumeOperation: ['ops', 404, {}],
  listDeliveries: ['viewer', 200],
  readDelivery: ['viewer', 404],
  replayDelivery: ['ops', 404, {}],
  listQueues: ['viewer', 200],
  pauseQueue: ['ops', 404, {}],
  resumeQueue: ['ops', 404, {}],
  readConservation: ['viewer', 200],
  listApiKeys: ['ops', 200],
  createApiKey: ['ops', 201, { name: 'yard', role: 'crew' }],
  rotateApiKey: ['ops', 404, {}],
  revokeApiKey: ['ops', 404],
  listAudit: ['ops', 200],
};

const ROUTE_LIST = Object.entries<Route>(ROUTES).map(([name, route]) => {
  const expected = Object.entries(EXPECTED).find(([known]) => known === name)?.[1];
  if (!expected) throw new Error(`no expectation for the route ${name}`);
  const [weakest, status, body] = expected;
  const path = route.path.replaceAll(/:\w+/g, 'unknown');
  return { name, weakest, status, request: [route.method.toUpperCase(), path, body] as const };
});

const CALLS = ROUTE_LIST.flatMap((route) => ROLES.map((role) => ({ ...route, role })));
const mayCall = ({ role, weakest }: { role: Role; weakest: Role }) => ROLES.indexOf(role) >= ROLES.indexOf(weakest);

it.each(CALLS.filter(mayCall))('$name may be called by the role $role', async ({ role, status, request }) => {
  expect((await call(app, request, { apiKey: await newKey(app, role) })).status).toBe(status);
});

it.each(CALLS.filter((one) => !mayCall(one)))('$name is refused 403 to the role $role', async ({ role, request }) => {
  const answer = await call(app, request, { apiKey: await newKey(app, role) });
  expect([answer.status, errorOf(answer).code]).toEqual([403, 'role_not_allowed']);
});

it.each(ROUTE_LIST)('$name is refused 401 without a key and to a wrong one', async ({ request }) => {
  // A process of its own: after ten wrong keys within a minute it would look at no other.
  const own = await startApp({ redisUrl: app.redis.url, role: 'console' });
  try {
    for (const apiKey of [null, 'thk_wrong']) {
      const answer = await call(own, request, { apiKey });
      expect([answer.status, errorOf(answer).code]).toEqual([401, 'not_authenticated']);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
  } finally {
    await own.stop();
  }
});

describe('a key', () => {
  it('bootstraps the rest: the configured one has the role ops', async () => {
    expect((await get(app, '/api/keys')).status).toBe(200);
  });

  it('is not the beginning of a key, nor a key with more behind it', async () => {
    for (const apiKey of [app.apiKey.slice(0, -1), `${app.apiKey}x`, app.apiKey.toUpperCase()]) {
      expect((await get(app, '/api/tows', { apiKey })).status).toBe(401);
    }
  });

  it('is taken from the Authorization header only: Bearer, in any case', async () => {
    const statusWith = async (headers: Record<string, string>, query = '') =>
      (await fetch(`${app.consoleUrl}/api/tows${query}`, { headers })).status;
    expect(await statusWith({ authorization: `bearer ${app.apiKey}` })).toBe(200);
    expect(await statusWith({ authorization: app.apiKey })).toBe(401);
    expect(await statusWith({ authorization: `Basic ${btoa(`ops:${app.apiKey}`)}` })).toBe(401);
    expect(await statusWith({ 'x-api-key': app.apiKey })).toBe(401);
    expect(await statusWith({}, `?api_key=${app.apiKey}`)).toBe(401);
  });

  it('acts under its own name', async () => {
    const apiKey = await newKey(app, 'ops', 'night shift');
    expect((await post(app, '/api/keys', { name: 'yard', role: 'crew' }, { apiKey })).status).toBe(201);
    const { json } = await get(app, '/api/keys', { apiKey });
    expect(json).toMatchObject({
      items: [
        { name: 'night shift', role: 'ops' },
        { name: 'yard', role: 'crew' },
      ],
    });
  });
});

it('every address below /api that is none is answered 404 in the one shape of errors', async () => {
  const answer = await get(app, '/api/tow');
  expect([answer.status, errorOf(answer).code]).toEqual([404, 'not_found']);
});

it('no answer names the software that gave it, and each forbids what a page of ours never needs', async () => {
  const { headers } = await get(app, '/api/tows');
  expect(headers.get('x-powered-by')).toBeNull();
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});
