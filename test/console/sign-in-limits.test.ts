import { SIGN_IN_RETURNS_MAX, SIGN_IN_STARTS_MAX } from '../../src/store/person/source-limits';
import { startApp, type App } from '../support/app';
import { providerVariables, useProvider } from '../support/identity-provider';
import { recordedLog } from '../support/recorded-log';
import { useRedis } from '../support/redis';
import { signedOutVisitor, textOf, type PageResponse, type Visitor } from './visitor';

const redis = useRedis();
const provider = useProvider();
const { log, lines } = recordedLog();
let app: App;

beforeEach(async () => {
  const environment = { ...providerVariables(provider), TRUST_PROXY: '127.0.0.1' };
  app = await startApp({ redisUrl: redis.url, role: 'console', environment, log });
  provider.claims = { sub: 'u-4711', name: 'Layla Haddad', roles: ['towing-desk'] };
});
afterEach(() => app.stop());

const BUSY = { 'x-forwarded-for': '192.0.2.1' };
const OTHER = { 'x-forwarded-for': '192.0.2.2' };
const CALLBACK = '/sign-in/oidc/callback?code=made-up&state=made-up';

type From = Readonly<Record<string, string>>;

/** Begins a sign-in and signs in at the provider. Returns the path that leads back. */
async function begin(visitor: Visitor, from: From): Promise<string> {
  const { location } = await visitor.get('/sign-in/oidc', from);
  return provider.signIn(location ?? 'missing:');
}

/** Calls an address as often as one source may. */
async function useUp(path: string, from: From): Promise<void> {
  for (let index = 0; index < SIGN_IN_STARTS_MAX; index += 1) {
    expect((await signedOutVisitor(app).get(path, from)).status).toBe(303);
  }
}

function expectLimited(page: PageResponse): void {
  expect(page.status).toBe(429);
  expect(Number(page.get('retry-after'))).toBeGreaterThan(0);
  expect(Number(page.get('retry-after'))).toBeLessThanOrEqual(60);
  expect(textOf(page.html)).toContain('Too many sign-ins were begun from your address');
}

test.each([
  ['begins sign-ins and does not finish them', '/sign-in/oidc'],
  ['returns to sign-ins that it has not begun', CALLBACK],
])('limits a visitor who %s, and no other visitor behind the same proxy', async (_what, path) => {
  await useUp(path, BUSY);
  const visitor = signedOutVisitor(app);
  expectLimited(await visitor.get(path, BUSY));
  expectLimited(await visitor.get('/sign-in/oidc', BUSY));
  expect(visitor.cookies.get('towhook_sign_in')).toBeUndefined();
  expect(lines).toContainEqual(
    expect.objectContaining({ event: 'sign_in.failed', problem: 'rate_limited', address: '192.0.2.1' }),
  );

  const other = signedOutVisitor(app);
  expect((await other.get(await begin(other, OTHER), OTHER)).location).toBe('/board');
});

test('finishes a sign-in that was begun before its address reached the limit', async () => {
  const visitor = signedOutVisitor(app);
  const back = await begin(visitor, BUSY);
  for (let index = 1; index < SIGN_IN_STARTS_MAX; index += 1) await signedOutVisitor(app).get(CALLBACK, BUSY);
  expectLimited(await signedOutVisitor(app).get('/sign-in/oidc', BUSY));
  expect((await visitor.get(back, BUSY)).location).toBe('/board');
});

test('lets more people than the limit sign in from one address within a minute', async () => {
  for (let index = 0; index <= SIGN_IN_STARTS_MAX; index += 1) {
    const visitor = signedOutVisitor(app);
    expect((await visitor.get(await begin(visitor, BUSY), BUSY)).location).toBe('/board');
  }
});

test('asks the provider about one sign-in only a few times, however often a browser returns', async () => {
  const visitor = signedOutVisitor(app);
  const state = new URL((await visitor.get('/sign-in/oidc', BUSY)).location ?? '').searchParams.get('state') ?? '';
  const ticket = visitor.cookies.get('towhook_sign_in') ?? '';
  const returned: (string | number)[] = [];
  for (let index = 0; index < SIGN_IN_RETURNS_MAX + 2; index += 1) {
    visitor.cookies.set('towhook_sign_in', ticket);
    const { location, status } = await visitor.get(`/sign-in/oidc/callback?code=made-up&state=${state}`, OTHER);
    returned.push(location ?? status);
  }
  const refused = '/sign-in?problem=refused&next=%2Fboard';
  expect(returned).toEqual([...Array.from({ length: SIGN_IN_RETURNS_MAX }, () => refused), 429, 429]);
});
