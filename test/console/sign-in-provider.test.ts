import { api, newKey } from '../operator/client';
import { startApp, type App } from '../support/app';
import { providerVariables, useProvider } from '../support/identity-provider';
import { recordedLog } from '../support/recorded-log';
import { useRedis } from '../support/redis';
import { signedIn, signedOutVisitor, textOf, type PageResponse, type Visitor } from './visitor';

const redis = useRedis();
const provider = useProvider();
const { log, lines } = recordedLog();
const apps: App[] = [];
let app: App;
let second: App;
let providerOnly: App;

beforeAll(async () => {
  const start = async (environment: Readonly<Record<string, string>> = {}) => {
    const settings = { ...providerVariables(provider), ...environment };
    const started = await startApp({ redisUrl: redis.url, role: 'console', environment: settings, log });
    apps.push(started);
    return started;
  };
  app = await start();
  second = await start();
  providerOnly = await start({ CONSOLE_KEY_SIGN_IN: 'false', OIDC_ROLE_CLAIM: 'realm_access.roles' });
});
afterAll(async () => {
  for (const started of apps) await started.stop();
});

const LAYLA = { sub: 'u-4711', name: 'Layla Haddad', roles: ['towing-desk'] };

/** Begins a sign-in. Returns the address at the provider. */
async function begun(visitor: Visitor, next = '/board'): Promise<URL> {
  const { location } = await visitor.get(`/sign-in/oidc?next=${encodeURIComponent(next)}`);
  return new URL(location ?? 'missing:');
}

/** Signs in with these claims. Returns the response of the callback. */
async function signIn(visitor: Visitor, claims: object = LAYLA, next?: string): Promise<PageResponse> {
  provider.claims = { ...claims };
  return visitor.get(await provider.signIn((await begun(visitor, next)).href));
}

/** The page that a refused sign-in leads to. */
async function problemOf(visitor: Visitor, refused: PageResponse): Promise<PageResponse> {
  expect(refused.status).toBe(303);
  expect(refused.location).toMatch(/^\/sign-in\?problem=/);
  expect(visitor.cookies.get('towhook_session')).toBeUndefined();
  return visitor.get(refused.location ?? '');
}

describe('console: sign-in with an identity provider', () => {
  test('leads a person to the provider and back to the page they wanted, with the role of the claim', async () => {
    const visitor = signedOutVisitor(app);
    const page = await visitor.get('/sign-in?next=%2Ftasks%3Fa%3D1');
    expect(textOf(page.html)).toContain('Sign in with your organization’s account');
    expect(page.html).toContain('href="/sign-in/oidc?next=%2Ftasks%3Fa%3D1"');
    expect(page.html).toContain('name="key"');

    const done = await signIn(visitor, LAYLA, '/tasks?a=1');
    expect([done.status, done.location]).toEqual([303, '/tasks?a=1']);
    const board = await visitor.get('/board');
    expect(textOf(board.html)).toContain('Layla Haddad');
    expect((await visitor.get('/ops/keys')).status).toBe(403);
    expect((await visitor.get('/api/tows')).status).toBe(200);
  });

  test('asks for a code with state, nonce and a challenge, and proves it with the secret and the verifier', async () => {
    const visitor = signedOutVisitor(app);
    const { searchParams } = await begun(visitor);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      client_id: 'console-of-the-tests',
      redirect_uri: 'https://console.example/sign-in/oidc/callback',
      response_type: 'code',
      scope: 'openid profile',
      code_challenge_method: 'S256',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(searchParams.get(name)).toMatch(/^[\w-]{43}$/);

    await signIn(visitor);
    const sent = provider.tokenRequests.at(-1);
    expect(sent?.authorization).toMatch(/^Basic /);
    expect(JSON.stringify(sent?.body)).toMatch(/"code_verifier":"[\w-]{43}"/);
  });

  test('keeps the sign-in in a cookie that is hidden from scripts, readable by the console alone, and dropped after it', async () => {
    const visitor = signedOutVisitor(app);
    const response = await visitor.get('/sign-in/oidc', { 'x-forwarded-proto': 'https' });
    const [cookie = ''] = response.get('Set-Cookie') ?? [];
    expect(cookie).toMatch(/^__Host-towhook_sign_in=[\w-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    const state = new URL(response.location ?? '').searchParams.get('state') ?? 'missing';
    expect(Buffer.from(cookie.split(/[=;]/)[1] ?? '', 'base64url').toString()).not.toContain(state);

    await signIn(visitor);
    expect(visitor.cookies.get('towhook_sign_in')).toBeUndefined();
  });

  test('shows the name of the person in the audit and keeps it out of the log', async () => {
    const visitor = signedOutVisitor(app);
    await signIn(visitor, { ...LAYLA, roles: ['towing-ops'] });
    await visitor.get('/ops/keys');
    await visitor.post('/ops/keys', { name: 'made by a person', role: 'viewer' });
    const audit = await api(app).get('/api/audit');
    expect(audit.body).toMatchObject({
      items: [{ action: 'key.created', by: LAYLA.name, by_id: `oidc:${LAYLA.sub}` }],
    });
    expect(textOf((await visitor.get('/ops/audit')).html)).toContain(`${LAYLA.name} (ops) oidc:${LAYLA.sub}`);
    expect(JSON.stringify(lines)).not.toContain('Layla');
  });

  test.each([
    [['yard-crew', 'towing-ops', 'towing-desk', 'staff'], 'ops'],
    [['towing-desk', 'yard-crew'], 'dispatcher'],
    ['yard-crew', 'crew'],
  ])('gives the highest role that the claim %j means: %s', async (roles, role) => {
    const visitor = signedOutVisitor(app);
    await signIn(visitor, { ...LAYLA, roles });
    expect((await visitor.get('/ops/keys')).status).toBe(role === 'ops' ? 200 : 403);
    expect((await visitor.get('/violations/new')).status).toBe(role === 'crew' ? 403 : 200);
  });

  test.each([[['staff-9']], [[]], [undefined], [{ staff: true }]])(
    'refuses a person whose claim %j means no role, and names the claim',
    async (roles) => {
      const visitor = signedOutVisitor(app);
      const page = await problemOf(visitor, await signIn(visitor, { ...LAYLA, roles }));
      expect(page.status).toBe(403);
      expect(textOf(page.html)).toContain('no value of the claim “roles” gives it one');
      expect(page.html).not.toContain('staff-9');
    },
  );

  test('begins at one console process and ends at another', async () => {
    const [here, there] = [signedOutVisitor(app), signedOutVisitor(second)];
    provider.claims = LAYLA;
    const back = await provider.signIn((await begun(here, '/tasks')).href);
    there.cookies.set('towhook_sign_in', here.cookies.get('towhook_sign_in') ?? '');
    expect((await there.get(back)).location).toBe('/tasks');
    here.cookies.set('towhook_session', there.cookies.get('towhook_session') ?? '');
    expect((await here.get('/board')).status).toBe(200);
  });

  test.each(['https://elsewhere.example/', '//elsewhere.example', '/\\elsewhere.example', '/sign-in/oidc'])(
    'leads to the board instead of %s',
    async (next) => {
      expect((await signIn(signedOutVisitor(app), LAYLA, next)).location).toBe('/board');
    },
  );
});

describe('console: a sign-in that proves nothing', () => {
  test('refuses the answer of the provider in a browser that has not begun the sign-in', async () => {
    const back = await provider.signIn((await begun(signedOutVisitor(app))).href);
    const other = signedOutVisitor(app);
    const page = await problemOf(other, await other.get(back));
    expect(page.status).toBe(400);
    expect(textOf(page.html)).toContain('This sign-in was not begun in this browser');
  });

  test.each(['made-up', ''])('refuses an answer with the state "%s"', async (state) => {
    const visitor = signedOutVisitor(app);
    const back = new URL(await provider.signIn((await begun(visitor)).href), app.consoleUrl);
    back.searchParams.set('state', state);
    const before = provider.tokenRequests.length;
    expect((await problemOf(visitor, await visitor.get(`${back.pathname}${back.search}`))).status).toBe(400);
    expect(provider.tokenRequests).toHaveLength(before);
  });

  test.each([
    ['another nonce', { nonce: 'made-up' }],
    ['another client', { aud: 'another-client' }],
  ])('refuses a token for %s', async (_what, claims) => {
    const visitor = signedOutVisitor(app);
    const page = await problemOf(visitor, await signIn(visitor, { ...LAYLA, ...claims }));
    expect(page.status).toBe(403);
    expect(textOf(page.html)).toContain('did not confirm your account');
  });

  test('refuses a code that was used before, also with the cookie of that time', async () => {
    const visitor = signedOutVisitor(app);
    provider.claims = LAYLA;
    const back = await provider.signIn((await begun(visitor)).href);
    const ticket = visitor.cookies.get('towhook_sign_in') ?? '';
    expect((await visitor.get(back)).location).toBe('/board');

    const thief = signedOutVisitor(app);
    thief.cookies.set('towhook_sign_in', ticket);
    expect((await problemOf(thief, await thief.get(back))).status).toBe(403);
  });

  test('shows a page when the person cancels at the provider', async () => {
    const visitor = signedOutVisitor(app);
    const state = (await begun(visitor)).searchParams.get('state') ?? '';
    const answer = await visitor.get(`/sign-in/oidc/callback?error=access_denied&state=${state}`);
    expect((await problemOf(visitor, answer)).status).toBe(403);
  });

  test('shows a page when the provider is down, takes keys meanwhile, and works again when it is back', async () => {
    const environment = providerVariables(provider);
    const fresh = await startApp({ redisUrl: redis.url, role: 'console', environment });
    try {
      const visitor = signedOutVisitor(fresh);
      await provider.stop();
      const page = await problemOf(visitor, await visitor.get('/sign-in/oidc?next=%2Ftasks'));
      expect(page.status).toBe(503);
      expect(textOf(page.html)).toContain('does not answer. Try again in a few minutes, or sign in with an API key.');
      expect(page.html).toContain('href="/sign-in/oidc?next=%2Ftasks"');
      expect((await (await signedIn(fresh)).get('/board')).status).toBe(200);

      await provider.start();
      const back = await provider.signIn((await begun(visitor)).href);
      await provider.stop();
      expect((await problemOf(visitor, await visitor.get(back))).status).toBe(503);
      await provider.start();
      expect((await signIn(visitor)).location).toBe('/board');
    } finally {
      await fresh.stop();
    }
  });
});

describe('console: session of a person', () => {
  test('ends at sign-out, and with all others of the person at a sign-out everywhere', async () => {
    const [desk, phone, other] = [signedOutVisitor(app), signedOutVisitor(app), signedOutVisitor(app)];
    await signIn(desk);
    await signIn(phone);
    await signIn(other, { ...LAYLA, sub: 'u-4712' });
    await desk.get('/board');
    await desk.post('/sign-out');
    expect((await desk.get('/board')).status).toBe(303);
    expect((await phone.get('/board')).status).toBe(200);

    await signIn(desk);
    await desk.get('/board');
    await desk.post('/sign-out-everywhere');
    for (const visitor of [desk, phone]) expect((await visitor.get('/board')).status).toBe(303);
    expect((await other.get('/board')).status).toBe(200);
  });

  test('goes on to the sign-out at the provider, which leads back to the sign-in page', async () => {
    for (const path of ['/sign-out', '/sign-out-everywhere']) {
      const visitor = signedOutVisitor(app);
      await signIn(visitor);
      await visitor.get('/board');
      const signedOut = await visitor.post(path);
      expect(signedOut.location).toBe('/sign-in/oidc/sign-out');
      const page = await visitor.get('/sign-in/oidc/sign-out');
      const [wait, address = ''] = page.get('refresh')?.split('; url=') ?? [];
      const { origin, pathname, searchParams } = new URL(address);
      expect([wait, `${origin}${pathname}`]).toEqual(['0', `${provider.issuer}/endsession`]);
      expect(Object.fromEntries(searchParams)).toEqual({
        client_id: 'console-of-the-tests',
        post_logout_redirect_uri: 'https://console.example/sign-in',
      });
      expect(page.html).toContain(`href="${address.replaceAll('&', '&amp;')}"`);
      expect(textOf(page.html)).toContain('You are signed out of towhook.');
      expect((await visitor.get('/board')).status).toBe(303);
    }
  });

  test('does not lead the holder of a key to the sign-out at the provider', async () => {
    const visitor = await signedIn(app);
    expect((await visitor.post('/sign-out')).location).toBe('/sign-in');
  });

  test('ends at sign-out while the provider is down, too', async () => {
    const environment = providerVariables(provider);
    const fresh = await startApp({ redisUrl: redis.url, role: 'console', environment });
    try {
      const visitor = signedOutVisitor(app);
      await signIn(visitor);
      const moved = signedOutVisitor(fresh);
      moved.cookies.set('towhook_session', visitor.cookies.get('towhook_session') ?? '');
      await moved.get('/board');
      await provider.stop();
      expect((await moved.post('/sign-out')).location).toBe('/sign-in/oidc/sign-out');
      expect((await moved.get('/sign-in/oidc/sign-out')).location).toBe('/sign-in');
      expect((await visitor.get('/board')).status).toBe(303);
    } finally {
      await provider.start();
      await fresh.stop();
    }
  });

  test('ends 24 hours after sign-in regardless of use', async () => {
    const visitor = signedOutVisitor(app);
    await signIn(visitor);
    const { redis: connection, clock } = app.foundation;
    const [key = ''] = await connection.keys('*session:*');
    const person = { id: 'oidc:u-4711', name: LAYLA.name, role: 'dispatcher' };
    const begunAgo = (ms: number) =>
      connection.set(key, JSON.stringify({ person, createdAt: new Date(clock.nowMs() - ms).toISOString() }));
    await begunAgo(24 * 3_600_000 - 60_000);
    expect((await visitor.get('/board')).status).toBe(200);
    await begunAgo(24 * 3_600_000);
    expect((await visitor.get('/board')).status).toBe(303);
  });
});

describe('console: without sign-in by key', () => {
  test('shows no field for a key, takes none, and ends the sessions of keys', async () => {
    const page = await signedOutVisitor(providerOnly).get('/sign-in');
    expect(page.html).not.toContain('name="key"');
    expect((await signedOutVisitor(providerOnly).post('/sign-in', { key: app.apiKey })).status).toBe(404);

    const before = await signedIn(app, await newKey(app, 'ops'));
    const moved = signedOutVisitor(providerOnly);
    moved.cookies.set('towhook_session', before.cookies.get('towhook_session') ?? '');
    expect((await moved.get('/board')).status).toBe(303);
    expect((await api(providerOnly).get('/api/tows')).status).toBe(200);
  });

  test('reads the role from a claim within another', async () => {
    const visitor = signedOutVisitor(providerOnly);
    await signIn(visitor, { ...LAYLA, realm_access: { roles: ['towing-ops'] } });
    expect((await visitor.get('/ops/keys')).status).toBe(200);
  });
});
