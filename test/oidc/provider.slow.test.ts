import { createServer, request, type ServerResponse } from 'node:http';
import { openProviderAgents } from '../../src/service/outbound';
import { createIdentityProvider } from '../../src/oidc';
import { systemClock } from '../../src/platform/clock';
import { loadConfig } from '../../src/platform/config/config';
import { certificate, startConnectProxy } from '../service/connect-proxy';
import { eventually } from '../support/eventually';
import { providerVariables, startProvider, useProvider } from '../support/identity-provider';
import { recordedLog } from '../support/recorded-log';
import { portOf } from '../support/server-port';

const provider = useProvider();
const FROM = { address: '192.0.2.1' };
/** test/console/sign-in-limits.test.ts has the limits. */
const limit = {
  countStart: () => Promise.resolve(null),
  countReturn: () => Promise.resolve(null),
  forgiveStart: () => Promise.resolve(),
};
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A console's side of the sign-in; `later.ms` is added to its clock. */
function consoleOf(
  environment: Readonly<Record<string, string>> = {},
  options: { readonly finishLimitMs?: number } = {},
) {
  const { oidc } = loadConfig({ ...providerVariables(provider), ...environment }).signIn;
  if (oidc === null) throw new Error('no provider is configured');
  const later = { ms: 0 };
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + later.ms };
  const { log, lines } = recordedLog();
  const agents = openProviderAgents(oidc.outbound);
  return { identity: createIdentityProvider(oidc, { agents, clock, limit, log, ...options }), lines, later };
}

/** Signs in at once. Returns the outcome; that of the beginning if it does not begin. */
async function signIn({ identity, later }: ReturnType<typeof consoleOf>, afterMs = 0) {
  const begun = await identity.begin('/tasks', FROM);
  if (begun.kind !== 'begun') return begun;
  const back = await provider.signIn(begun.address);
  later.ms = afterMs;
  return identity.finish(new URLSearchParams(back.split('?')[1]), { ...FROM, ticket: begun.ticket });
}

test('takes the answer of the provider within ten minutes only', async () => {
  provider.claims = { roles: 'towing-ops' };
  expect(await signIn(consoleOf(), 590_000)).toMatchObject({ kind: 'signed_in' });
  expect(await signIn(consoleOf(), 600_000)).toEqual({ kind: 'not_begun', next: '/tasks' });
});

test('does not open a ticket that another client secret has encrypted', async () => {
  const begun = await consoleOf().identity.begin('/tasks', FROM);
  if (begun.kind !== 'begun') throw new Error('the sign-in did not begin');
  const query = new URLSearchParams((await provider.signIn(begun.address)).split('?')[1]);
  const { identity } = consoleOf({ OIDC_CLIENT_SECRET: 'another secret' });
  expect(await identity.finish(query, { ...FROM, ticket: begun.ticket })).toEqual({
    kind: 'not_begun',
    next: '/board',
  });
  expect(await identity.finish(query, { ...FROM, ticket: '' })).toEqual({ kind: 'not_begun', next: '/board' });
});

test.each([
  ['another nonce', { nonce: 'made-up' }, 'token_invalid'],
  ['another client', { aud: 'another-client' }, 'token_invalid'],
  ['another issuer', { iss: 'https://elsewhere.example' }, 'token_invalid'],
  ['a time that is over', { exp: 1_700_000_000 }, 'clock_skew'],
])('refuses a token for %s and logs why, without its claims', async (_what, claims, reason) => {
  provider.claims = { sub: 'u-1', name: 'Layla', roles: ['yard-crew'], ...claims };
  const one = consoleOf();
  expect(await signIn(one)).toEqual({ kind: 'refused', next: '/tasks' });
  expect(one.lines).toEqual([{ level: 'warn', event: 'sign_in.failed', problem: 'refused', reason }]);
});

test('takes no ID token and no signed response out of the address in place of a code', async () => {
  provider.claims = { roles: ['yard-crew'] };
  const { identity, lines } = consoleOf();
  const begun = await identity.begin('/tasks', FROM);
  if (begun.kind !== 'begun') throw new Error('the sign-in did not begin');
  const state = new URL(begun.address).searchParams.get('state') ?? '';
  const query = new URLSearchParams({ state, id_token: 'a.b.c', response: 'a.b.c' });
  expect(await identity.finish(query, { ...FROM, ticket: begun.ticket })).toEqual({ kind: 'refused', next: '/tasks' });
  expect(lines).toMatchObject([{ event: 'sign_in.failed', problem: 'refused', reason: 'token_invalid' }]);
});

test.each([
  ['name', { name: 'Layla', preferred_username: 'layla', email: 'l@a.example' }, 'Layla'],
  ['preferred_username', { name: ' \n', preferred_username: 'layla', email: 'l@a.example' }, 'layla'],
  ['email', { preferred_username: 7, email: 'l@a.example' }, 'l@a.example'],
  ['sub', {}, 'u-1'],
  ['one line of the name', { name: 'Layla\r\nops\u202e ' }, 'Layla ops'],
  ['100 characters of the name', { name: 'a'.repeat(101) }, 'a'.repeat(100)],
])('calls a person by the claim %s', async (_claim, claims, name) => {
  provider.claims = { sub: 'u-1', roles: ['yard-crew'], ...claims };
  const actor = { id: 'oidc:u-1', name, role: 'crew' };
  expect(await signIn(consoleOf())).toEqual({ kind: 'signed_in', actor, next: '/tasks' });
});

test('takes a claim whose name has dots before a claim within another', async () => {
  provider.claims = { 'https://towing.example/roles': ['towing-ops'], 'https://towing': { 'example/roles': ['x'] } };
  const own = consoleOf({ OIDC_ROLE_CLAIM: 'https://towing.example/roles' });
  expect(await signIn(own)).toMatchObject({ kind: 'signed_in', actor: { role: 'ops' } });
});

test('uses no provider whose discovery document names another issuer', async () => {
  const { identity, lines } = consoleOf({ OIDC_ISSUER: `${provider.issuer}/` });
  expect(await identity.begin('/tasks', FROM)).toEqual({ kind: 'unavailable' });
  expect(lines).toMatchObject([{ event: 'sign_in.failed', reason: 'issuer_differs' }]);
});

test.each([
  ['no address of a sign-out', {}, null],
  ['one that is no address', { end_session_endpoint: 'none' }, null],
  [
    'one with a query of its own',
    { end_session_endpoint: 'https://login.example/end?tenant=7' },
    'https://login.example/end?tenant=7&client_id=console-of-the-tests&post_logout_redirect_uri=https%3A%2F%2Fconsole.example%2Fsign-in',
  ],
])('signs out at a provider whose discovery document has %s', async (_what, more, address) => {
  const issuer = await discoveryServer(more);
  const { identity } = consoleOf({ OIDC_ISSUER: issuer });
  expect(await identity.begin('/tasks', FROM)).toMatchObject({ kind: 'begun' });
  expect(await identity.signOutAddress()).toBe(address);
});

test('waits a limited time for a discovery document that arrives byte by byte, and ends the connection', async () => {
  const sending: NodeJS.Timeout[] = [];
  stops.push(async () => sending.forEach((timer) => clearInterval(timer)));
  // Repeated, because the limit may be reached on a slow machine before the connection is open.
  const { results, lines, unfinished } = await eventually(async () => {
    const asked: ServerResponse[] = [];
    const issuer = await serve((response) => {
      asked.push(response);
      sending.push(setInterval(() => response.write(' '), 100));
    });
    const one = consoleOf({ OIDC_ISSUER: issuer }, { finishLimitMs: 100 });
    const both = await Promise.all([one.identity.begin('/tasks', FROM), one.identity.signOutAddress()]);
    expect(asked).not.toEqual([]);
    return { results: both, lines: one.lines, unfinished: asked };
  });
  expect(results).toEqual([{ kind: 'unavailable' }, null]);
  expect(lines.map(({ event, reason }) => `${event} ${String(reason)}`).toSorted()).toEqual([
    'sign_in.failed timeout',
    'sign_out.failed timeout',
  ]);
  await eventually(() => expect(unfinished.map(isEnded)).toEqual([true]));
});

test.each(['/token', '/jwks'])(
  'ends a sign-in when the answer from %s stalls after its headers, and finishes the next one',
  async (path) => {
    const front = await startFront(path, stall);
    const one = consoleOf({ OIDC_ISSUER: front.issuer }, { finishLimitMs: 2000 });
    provider.claims = { iss: front.issuer, roles: ['yard-crew'] };
    expect(await signIn(one)).toEqual({ kind: 'unavailable', next: '/tasks' });
    expect(one.lines).toEqual([{ level: 'warn', event: 'sign_in.failed', problem: 'unavailable', reason: 'timeout' }]);
    expect(front.discoveries).toBe(1);

    front.answer = null;
    await eventually(async () => expect(await signIn(one)).toMatchObject({ kind: 'signed_in' }));
    expect(front.discoveries).toBeGreaterThan(1);
  },
);

test.each(['/token', '/jwks'])('ends the connection to %s that stalls after its headers', async (path) => {
  const stalled: ServerResponse[] = [];
  const front = await startFront(path, (response) => {
    stalled.push(response);
    stall(response);
  });
  const one = consoleOf({ OIDC_ISSUER: front.issuer }, { finishLimitMs: 100 });
  provider.claims = { iss: front.issuer, roles: ['yard-crew'] };
  // Repeated, because a sign-in on a slow machine may reach its limit before its connection is open.
  await eventually(async () => {
    expect(await signIn(one)).toMatchObject({ kind: 'unavailable' });
    expect(stalled.slice(0, 1).map(isEnded)).toEqual([true]);
  });
});

test.each([
  ['429', '/token', 429, 'Too many calls', 'http_429'],
  ['429', '/jwks', 429, 'Too many calls', 'http_429'],
  ['429 with an error code', '/token', 429, '{"error":"slow_down"}', 'slow_down'],
  ['an HTML page', '/token', 200, '<h1>Maintenance</h1>', 'answer_invalid'],
  ['an HTML page', '/jwks', 200, '<h1>Maintenance</h1>', 'answer_invalid'],
])('counts a provider as unavailable that answers with %s at %s', async (_what, path, status, body, reason) => {
  const front = await startFront(path, (response) => response.writeHead(status).end(body));
  const one = consoleOf({ OIDC_ISSUER: front.issuer });
  provider.claims = { iss: front.issuer, roles: ['yard-crew'] };
  expect(await signIn(one)).toEqual({ kind: 'unavailable', next: '/tasks' });
  expect(one.lines).toEqual([{ level: 'warn', event: 'sign_in.failed', problem: 'unavailable', reason }]);
});

/** Sends the headers and the beginning of an answer, and nothing more. */
function stall(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).write('{');
}

function isEnded({ req }: ServerResponse): boolean {
  return req.socket.destroyed;
}

interface Front {
  readonly issuer: string;
  /** How it answers at the path; null to pass the requests on. */
  answer: ((response: ServerResponse) => void) | null;
  /** Reads of the discovery document. */
  readonly discoveries: number;
}

/** A server in front of the provider, which passes on tokens and keys, and answers at one path itself. */
async function startFront(path: string, answer: Front['answer']): Promise<Front> {
  const front = { issuer: '', answer, discoveries: 0 };
  front.issuer = await serve((response, issuer) => {
    const { url = '', method, headers } = response.req;
    if (url === path && front.answer !== null) return front.answer(response);
    if (url.startsWith('/.well-known/')) {
      front.discoveries += 1;
      const document = {
        issuer,
        authorization_endpoint: `${provider.issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
      };
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
    }
    const passedOn = request(`${provider.issuer}${url}`, { method, headers }, (passed) =>
      passed.pipe(response.writeHead(passed.statusCode ?? 502, passed.headers)),
    );
    response.req.pipe(passedOn);
  });
  return front;
}

/** Serves a discovery document. Returns its issuer. */
async function discoveryServer(more: object): Promise<string> {
  const endpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'];
  return serve((response, issuer) => {
    const document = Object.fromEntries(endpoints.map((name) => [name, `${issuer}/${name}`]));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ issuer, ...document, ...more }));
  });
}

/** Answers every request in this way. Returns the address. */
async function serve(answer: (response: ServerResponse, address: string) => void): Promise<string> {
  let address = '';
  const server = createServer((_request, response) => answer(response, address));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  address = `http://127.0.0.1:${portOf(server)}`;
  return address;
}

test('reads the discovery document once for many sign-ins, and again after a failure', async () => {
  const one = consoleOf();
  await provider.stop();
  expect(await one.identity.begin('/tasks', FROM)).toEqual({ kind: 'unavailable' });
  await provider.start();
  expect(await one.identity.begin('/tasks', FROM)).toMatchObject({ kind: 'begun' });
  await provider.stop();
  expect(await one.identity.begin('/tasks', FROM)).toMatchObject({ kind: 'begun' });
  await provider.start();
});

test('reaches a provider behind a private authority and a proxy with OIDC_CA_FILE and OIDC_PROXY_URL', async () => {
  const secure = await startProvider({ key: certificate('server-key'), certificate: certificate('server') });
  stops.push(() => secure.stop());
  const proxy = await startConnectProxy();
  stops.push(() => proxy.stop());
  const { identity, lines } = consoleOf({ OIDC_ISSUER: secure.issuer, OIDC_PROXY_URL: proxy.url });
  expect(await identity.begin('/tasks', FROM)).toEqual({ kind: 'unavailable' });
  expect(lines).toMatchObject([{ event: 'sign_in.failed', reason: 'unable_to_verify_leaf_signature' }]);

  const trusting = consoleOf({
    OIDC_ISSUER: secure.issuer,
    OIDC_PROXY_URL: proxy.url,
    OIDC_CA_FILE: certificate('ca'),
  });
  expect(await trusting.identity.begin('/tasks', FROM)).toMatchObject({ kind: 'begun' });
  expect(new Set(proxy.tunnels)).toEqual(new Set([new URL(secure.issuer).host]));
});
