import { once } from 'node:events';
import { connect } from 'node:net';
import request from 'supertest';
import { ROUTES } from '../../src/contracts/operator-routes';
import type { Route } from '../../src/contracts/routes/route';
import { ROLES, type Role } from '../../src/domain/vocabulary';
import { startApp, useApp, type App } from '../support/app';
import { api, errorOf, newKey } from './client';
import { ZONE } from './lookup-service';
import { WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });

describe('operator API: role before body', () => {
  it.each([
    ['is not JSON', '{"plate_number":'],
    ['is not UTF-8', Buffer.from([0x22, 0xc3, 0x22])],
    ['is too large', JSON.stringify({ plate_number: 'x'.repeat(300_000) })],
  ])('refuses a call of an insufficient role with 403 although its body %s', async (_what, body) => {
    const response = await fetch(`${app.consoleUrl}/api/tows/TW-1/started`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await newKey(app, 'viewer')}` },
      body,
    });
    const refusal = { status: response.status, body: await response.json(), text: '' };
    expect([refusal.status, errorOf(refusal).code]).toEqual([403, 'role_not_allowed']);
  });

  it('refuses a call of an insufficient role before its body has arrived', async () => {
    const key = await newKey(app, 'viewer');
    const { port } = new URL(app.consoleUrl);
    const socket = connect(Number(port), '127.0.0.1');
    try {
      socket.write(
        `POST /api/tows/TW-1/started HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
          'Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"plate_number":',
      );
      const received: unknown[] = await once(socket, 'data');
      expect(String(received[0])).toMatch(/^HTTP\/1\.1 403 /);
    } finally {
      socket.destroy();
    }
  });

  it.each([
    ['is not JSON', '{"plate_number":', 400, 'not_json'],
    ['is too large', JSON.stringify({ plate_number: 'x'.repeat(300_000) }), 413, 'too_large'],
  ])('refuses a call of a sufficient role whose body %s by its body', async (_what, body, status, code) => {
    const response = await api(app, await newKey(app, 'crew'))
      .post('/api/tows/TW-1/started')
      .type('application/json')
      .send(body);
    expect([response.status, errorOf(response).code]).toEqual([status, code]);
  });
});

const KNOWN = {
  violation_reference_id: 'V-20261120-ABC123',
  plateNumber: 'ABJ 1234',
  location: 'Olaya Street',
  latitude: 24.69,
  longitude: 46.68,
};

type RouteName = keyof typeof ROUTES;

/**
 * For each route the weakest role that may call it, the status of a permitted call whose path parameters are unknown, and
 * a valid body.
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
  addKnownViolations: ['dispatcher', 202, { violations: [KNOWN] }],
  listViolations: ['viewer', 200],
  readViolation: ['viewer', 404],
  readViolationImage: ['viewer', 404],
  retryViolation: ['dispatcher', 404, {}],
  replaceViolationImages: ['dispatcher', 415, {}],
  correctViolation: ['dispatcher', 404, { location: 'Olaya Street' }],
  waiveViolation: ['dispatcher', 404, { reason: 'seen' }],
  acceptViolation: ['dispatcher', 404, { reason: 'seen' }],
  readCapacity: ['viewer', 422],
  // The government service cannot be reached.
  checkTicket: ['crew', 503, { zoneId: ZONE, plateNumber: 'ABJ 1234', plateType: 'PRIVATE' }],
  readService: ['viewer', 200],
  listDifferences: ['viewer', 200],
  expectDifference: ['ops', 404, {}],
  readWithheld: ['viewer', 200],
  exportWithheld: ['viewer', 200],
  sendWithheldTow: ['ops', 404, {}],
  declineWithheldTow: ['ops', 404, { reason: 'seen' }],
  sendWithheldViolation: ['ops', 404, {}],
  declineWithheldViolation: ['ops', 404, { reason: 'seen' }],
  previewRun: ['dispatcher', 422, { action: 'retry', task_ids: [] }],
  listRuns: ['viewer', 200],
  readRun: ['viewer', 404],
  listRunItems: ['viewer', 404],
  startRun: ['dispatcher', 404, {}],
  abortRun: ['dispatcher', 404, {}],
  listTasks: ['viewer', 200],
  countTows: ['viewer', 200],
  readTask: ['viewer', 404],
  countTasks: ['viewer', 200],
  changeMode: ['ops', 202, { mode: 'live', reason: 'a test' }],
  readStatus: ['viewer', 200],
  resolveTask: ['dispatcher', 404, {}],
  readSending: ['viewer', 200],
  resumeOperation: ['ops', 404, {}],
  listDeliveries: ['viewer', 200],
  listOtherCalls: ['viewer', 200],
  listRefusedCalls: ['ops', 200],
  readDelivery: ['viewer', 404],
  replayDelivery: ['ops', 404, {}],
  listQueues: ['viewer', 200],
  listAlarms: ['viewer', 200],
  readNotifications: ['ops', 200],
  testNotifications: ['ops', 200, { channel: 'mail' }],
  pauseQueue: ['ops', 404, {}],
  resumeQueue: ['ops', 404, {}],
  readConservation: ['viewer', 200],
  listSubscriptions: ['ops', 200],
  createSubscription: ['ops', 201, { name: 'dispatch', url: 'https://receiver.example/towhook' }],
  rotateSubscription: ['ops', 404, {}],
  pauseSubscription: ['ops', 404, {}],
  resumeSubscription: ['ops', 404, {}],
  testSubscription: ['ops', 404, {}],
  replaySubscription: ['ops', 404, {}],
  deleteSubscription: ['ops', 404],
  listApiKeys: ['ops', 200],
  createApiKey: ['ops', 201, { name: 'yard', role: 'crew' }],
  rotateApiKey: ['ops', 404, {}],
  revokeApiKey: ['ops', 404],
  listChanges: ['viewer', 200],
  listAudit: ['ops', 200],
};

const ROUTE_LIST = Object.entries<Route>(ROUTES).map(([name, route]) => {
  const expected = Object.entries(EXPECTED).find(([known]) => known === name)?.[1];
  if (!expected) throw new Error(`no expectation for the route ${name}`);
  const [weakest, status, body] = expected;
  const path = route.path.replaceAll(/:\w+/g, 'unknown');
  return { name, weakest, status, request: { method: route.method, path, body } };
});

/** Sends the request of a route with an API key, or with none where the key is null. */
function send(to: App, { method, path, body }: (typeof ROUTE_LIST)[number]['request'], apiKey: string | null) {
  return api(to, apiKey)[method](path).send(body);
}

const CALLS = ROUTE_LIST.flatMap((route) => ROLES.map((role) => ({ ...route, role })));
const mayCall = ({ role, weakest }: { role: Role; weakest: Role }) => ROLES.indexOf(role) >= ROLES.indexOf(weakest);

it.each(CALLS.filter(mayCall))(
  'permits the role $role to call the operator API route $name',
  async ({ role, status, request }) => {
    await send(app, request, await newKey(app, role)).expect(status);
  },
);

it.each(CALLS.filter((one) => !mayCall(one)))(
  'refuses the role $role the operator API route $name with 403',
  async ({ role, request }) => {
    const response = await send(app, request, await newKey(app, role));
    expect([response.status, errorOf(response).code]).toEqual([403, 'role_not_allowed']);
  },
);

it.each(ROUTE_LIST)(
  'refuses the operator API route $name with 401 without an API key and with a wrong one',
  async ({ request }) => {
    // A separate process: the shared one would respond 429 after ten wrong keys within a minute.
    const own = await startApp({ redisUrl: app.redis.url, role: 'console' });
    try {
      for (const apiKey of [null, 'thk_wrong']) {
        const response = await send(own, request, apiKey);
        expect([response.status, errorOf(response).code]).toEqual([401, 'not_authenticated']);
        expect(response.get('www-authenticate')).toMatch(/^Bearer/);
      }
    } finally {
      await own.stop();
    }
  },
);

describe('operator API: API keys in requests', () => {
  it('gives the configured API key the role ops', async () => {
    await api(app).get('/api/keys').expect(200);
  });

  it('rejects a shortened, an extended and an upper-case copy of a valid API key with 401', async () => {
    for (const apiKey of [app.apiKey.slice(0, -1), `${app.apiKey}x`, app.apiKey.toUpperCase()]) {
      await api(app, apiKey).get('/api/tows').expect(401);
    }
  });

  it('reads the API key only from an Authorization header with the scheme Bearer, in any letter case', async () => {
    const read = (headers: Record<string, string>) => request(app.consoleUrl).get('/api/tows').set(headers);
    await read({ authorization: `bearer ${app.apiKey}` }).expect(200);
    await read({ authorization: app.apiKey }).expect(401);
    await read({ authorization: `Basic ${btoa(`ops:${app.apiKey}`)}` }).expect(401);
    await read({ 'x-api-key': app.apiKey }).expect(401);
    await read({}).query({ api_key: app.apiKey }).expect(401);
  });

  it('acts with the role of the API key and lists the key under its own name', async () => {
    const apiKey = await newKey(app, 'ops', 'night shift');
    await api(app, apiKey).post('/api/keys').send({ name: 'yard', role: 'crew' }).expect(201);
    const response = await api(app, apiKey).get('/api/keys');
    expect(response.body).toMatchObject({
      items: [
        { name: 'night shift', role: 'ops' },
        { name: 'yard', role: 'crew' },
      ],
    });
  });
});

it('answers an unknown path below /api with 404 and the common error body', async () => {
  const response = await api(app).get('/api/tow');
  expect([response.status, errorOf(response).code]).toEqual([404, 'not_found']);
});

it('answers another method on a path of the API with 405 and the methods that the path takes', async () => {
  const responses = [
    await api(app).delete('/api/tows'),
    await api(app).get('/api/tows/TW-1/started'),
    await api(app).delete('/api/violations'),
    await api(app).post('/api/events'),
    await api(app).options('/api/tows'),
  ];
  expect(responses.map((response) => [response.status, errorOf(response).code, response.headers['allow']])).toEqual([
    [405, 'method_not_allowed', 'GET, HEAD'],
    [405, 'method_not_allowed', 'POST'],
    [405, 'method_not_allowed', 'POST, GET, HEAD'],
    [405, 'method_not_allowed', 'GET, HEAD'],
    [405, 'method_not_allowed', 'GET, HEAD'],
  ]);
  expect((await api(app).head('/api/tows')).status).toBe(200);
});

it('names no server software in API responses, and sends a restrictive content security policy', async () => {
  const { headers } = await api(app).get('/api/tows');
  expect(headers).not.toHaveProperty('x-powered-by');
  expect(headers['content-security-policy']).toContain("default-src 'none'");
  expect(headers['x-content-type-options']).toBe('nosniff');
});
