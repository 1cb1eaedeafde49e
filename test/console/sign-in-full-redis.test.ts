import { startApp, type App } from '../support/app';
import { providerVariables, useProvider } from '../support/identity-provider';
import { recordedLog } from '../support/recorded-log';
import { useOwnRedis } from '../support/redis';
import { signedOutVisitor, textOf } from './visitor';

const redis = useOwnRedis();
const provider = useProvider();
const { log, lines } = recordedLog();
let app: App;

beforeEach(async () => {
  app = await startApp({ redisUrl: redis.url, role: 'console', environment: providerVariables(provider), log });
  provider.claims = { sub: 'u-4711', name: 'Layla Haddad', roles: ['towing-desk'] };
});
afterEach(async () => {
  await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
  await app.stop();
});

test('leads to the sign-in page, away from the used code, when Redis is full at the end of a sign-in', async () => {
  const visitor = signedOutVisitor(app);
  const signIn = async () => {
    const { location } = await visitor.get('/sign-in/oidc?next=%2Ftasks%3Fa%3D1');
    return visitor.get(await provider.signIn(location ?? 'missing:'));
  };
  // Far less than an empty Redis uses.
  await redis.ask('CONFIG', 'SET', 'maxmemory', '100kb', 'maxmemory-policy', 'noeviction');
  const failed = await signIn();
  const address = '/sign-in?problem=unavailable&next=%2Ftasks%3Fa%3D1';
  expect([failed.status, failed.location]).toEqual([303, address]);
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 'error', event: 'page.failed', path: '/sign-in/oidc/callback' }),
  );

  const page = await visitor.get(address);
  expect(page.status).toBe(503);
  expect(textOf(page.html)).toContain('Try again in a few minutes');
  expect(page.html).toContain('href="/sign-in/oidc?next=%2Ftasks%3Fa%3D1"');
  await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
  expect((await signIn()).location).toBe('/tasks?a=1');
});
