import { z } from 'zod';
import { ROUTES } from '../../src/contracts/operator-routes';
import { api, newKey } from '../operator/client';
import { useApp } from '../support/app';
import { signedIn, signedOutVisitor, textOf } from './visitor';

const app = useApp({ role: 'console' });
const keysListed = ROUTES.listApiKeys.answer;

describe('console: visitor without a session', () => {
  test.each(['/board', '/tows/TW-1', '/tasks', '/violations', '/ops'])(
    'redirects from %s to the sign-in page and back after sign-in',
    async (path) => {
      const visitor = signedOutVisitor(app);
      const response = await visitor.get(`${path}?q=1`);
      expect(response.status).toBe(303);
      expect(response.location).toBe(`/sign-in?next=${encodeURIComponent(`${path}?q=1`)}`);

      const signed = await visitor.post('/sign-in', { key: app.apiKey, next: `${path}?q=1` });
      expect(signed.location).toBe(`${path}?q=1`);
    },
  );

  test.each(['https://elsewhere.example/', '//elsewhere.example', '/\\elsewhere.example', 'board', '/sign-in', '/a b'])(
    'redirects to the board instead of %s after sign-in',
    async (next) => {
      const signed = await signedOutVisitor(app).post('/sign-in', { key: app.apiKey, next });
      expect(signed.location).toBe('/board');
    },
  );

  test('refuses a made-up session cookie on pages and API reads', async () => {
    const visitor = signedOutVisitor(app);
    visitor.cookies.set('towhook_session', 'made-up');
    expect((await visitor.get('/board')).status).toBe(303);
    expect((await visitor.get('/api/tows')).status).toBe(401);
  });
});

describe('console: sign-in', () => {
  test('sets an HttpOnly and SameSite=Lax session cookie at sign-in', async () => {
    const response = await signedOutVisitor(app).post('/sign-in', { key: app.apiKey });
    const cookie = response.get('Set-Cookie')?.find((line) => line.startsWith('towhook_session=')) ?? '';
    expect(cookie).toMatch(/; HttpOnly/);
    expect(cookie).toMatch(/; SameSite=Lax/);
    expect(cookie).toMatch(/; Path=\//);
    expect(cookie).not.toContain(app.apiKey);
    expect(cookie).not.toMatch(/; Secure/);
  });

  test.each(['https', 'https,http', 'HTTPS, http'])(
    'sets and requires a Secure __Host- session cookie over TLS (x-forwarded-proto: %s)',
    async (proto) => {
      const overTls = { 'x-forwarded-proto': proto };
      const visitor = signedOutVisitor(app);
      const response = await visitor.postRaw('/sign-in', `key=${app.apiKey}`, overTls);
      expect(response.get('Set-Cookie')?.every((line) => line.includes('; Secure'))).toBe(true);
      const id = visitor.cookies.get('__Host-towhook_session') ?? '';
      expect(id).not.toBe('');
      // Set explicitly: the agent's cookie jar sends no Secure cookie over plain http.
      const secured = { ...overTls, cookie: `__Host-towhook_session=${id}` };
      expect((await visitor.get('/board', secured)).status).toBe(200);
      expect((await visitor.get('/api/tows', secured)).status).toBe(200);

      const planted = signedOutVisitor(app);
      planted.cookies.set('towhook_session', id);
      expect((await planted.get('/board', overTls)).status).toBe(303);
      expect((await planted.get('/api/tows', overTls)).status).toBe(401);
    },
  );

  test('sets the plain session cookie behind a proxy that was reached without TLS', async () => {
    const visitor = signedOutVisitor(app);
    await visitor.postRaw('/sign-in', `key=${app.apiKey}`, { 'x-forwarded-proto': 'http,https' });
    expect(visitor.cookies.get('towhook_session')).toBeDefined();
  });

  test('refuses an invalid API key at sign-in with 401, sets no session and does not echo the key', async () => {
    const visitor = signedOutVisitor(app);
    const response = await visitor.post('/sign-in', { key: 'thk_wrong-key-1' });
    expect(response.status).toBe(401);
    expect(textOf(response.html)).toContain('This API key is not valid.');
    expect(response.html).not.toContain('thk_wrong-key-1');
    expect(visitor.cookies.get('towhook_session')).toBeUndefined();
  });

  test('refuses a sign-in form from another site with 403', async () => {
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }]) {
      const response = await signedOutVisitor(app).postRaw('/sign-in', `key=${app.apiKey}`, headers);
      expect(response.status).toBe(403);
      expect(response.get('Set-Cookie')).toBeUndefined();
    }
  });

  test('replaces a session id that was set before sign-in', async () => {
    const visitor = signedOutVisitor(app);
    visitor.cookies.set('towhook_session', 'planted');
    await visitor.post('/sign-in', { key: app.apiKey });
    expect(visitor.cookies.get('towhook_session')).not.toBe('planted');
  });
});

describe('console: session', () => {
  test('ends a session when its API key is revoked', async () => {
    const key = await newKey(app, 'viewer', 'soon gone');
    const listed = keysListed.parse((await api(app).get('/api/keys')).body).items;
    const id = listed.find(({ name }) => name === 'soon gone')?.id ?? '';
    const visitor = await signedIn(app, key);
    expect((await visitor.get('/board')).status).toBe(200);

    await api(app).delete(`/api/keys/${id}`);
    expect((await visitor.get('/board')).status).toBe(303);
  });

  test('ends a session at sign-out, also for a copy of its cookie', async () => {
    const visitor = await signedIn(app);
    const copy = signedOutVisitor(app);
    copy.cookies.set('towhook_session', visitor.cookies.get('towhook_session') ?? '');
    await visitor.post('/sign-out');
    expect((await visitor.get('/board')).status).toBe(303);
    expect((await copy.get('/board')).status).toBe(303);
  });

  const HOUR_MS = 3_600_000;
  /** The Redis key of the only session. */
  const keyInRedis = async () => (await app.foundation.redis.keys('*session:*'))[0] ?? '';
  const leftMs = async () => app.foundation.redis.pttl(await keyInRedis());

  test('extends a session to 12 hours with each page and each form', async () => {
    const visitor = await signedIn(app);
    const acts = [
      () => visitor.get('/board'),
      () => visitor.post('/preferences', { theme: 'dark' }),
      () => visitor.post('/tasks', { task: 'none' }),
    ];
    for (const act of acts) {
      await app.foundation.redis.pexpire(await keyInRedis(), HOUR_MS);
      await act();
      expect(await leftMs()).toBeGreaterThan(11 * HOUR_MS);
    }
  });

  test('does not extend a session by background requests of an open page', async () => {
    const visitor = await signedIn(app);
    await app.foundation.redis.pexpire(await keyInRedis(), HOUR_MS);
    const part = { 'hx-request': 'true' };
    expect((await visitor.get('/tasks/count', part)).status).toBe(200);
    const { html } = await visitor.get('/ops', part);
    expect(html).not.toContain('<html');
    expect((await visitor.get('/api/tows')).status).toBe(200);
    const leaving = new AbortController();
    const cookie = `towhook_session=${visitor.cookies.get('towhook_session') ?? ''}`;
    // Supertest waits for the end of a response, and an event stream has none.
    const stream = await fetch(`${app.consoleUrl}/api/events`, { headers: { cookie }, signal: leaving.signal });
    expect(stream.status).toBe(200);
    leaving.abort();
    expect(await leftMs()).toBeLessThanOrEqual(HOUR_MS);
  });

  test('ends a session 7 days after sign-in regardless of use', async () => {
    const visitor = await signedIn(app);
    const { redis, clock } = app.foundation;
    const key = await keyInRedis();
    const record = z
      .object({ keyHash: z.string(), createdAt: z.string() })
      .parse(JSON.parse((await redis.get(key)) ?? ''));
    const begunAgo = (ms: number) =>
      redis.set(key, JSON.stringify({ ...record, createdAt: new Date(clock.nowMs() - ms).toISOString() }));
    await begunAgo(7 * 24 * HOUR_MS - 60_000);
    expect((await visitor.get('/board')).status).toBe(200);
    await begunAgo(7 * 24 * HOUR_MS);
    expect((await visitor.get('/board')).status).toBe(303);
    expect((await visitor.get('/api/tows')).status).toBe(401);
  });

  test('stores neither the session id nor the API key in Redis in plain text', async () => {
    const visitor = await signedIn(app);
    const { redis } = app.foundation;
    const kept = await Promise.all(
      (await redis.keys('*session*')).map(async (key) => `${key} ${await redis.get(key)}`),
    );
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.join()).not.toContain(visitor.cookies.get('towhook_session'));
    expect(kept.join()).not.toContain(app.apiKey);
  });
});

describe('console: every page', () => {
  test('forbids foreign scripts, resources and frames on every page', async () => {
    const visitor = await signedIn(app);
    for (const path of ['/board', '/shortcuts', '/nowhere-at-all']) {
      const response = await visitor.get(path);
      expect(response.get('content-security-policy')).toContain("default-src 'none'");
      expect(response.html).not.toMatch(/(?:src|href|action)="(?:https?:)?\/\//);
    }
    const policy = (await visitor.get('/board')).get('content-security-policy') ?? '';
    expect(policy).not.toContain('unsafe');
    expect(policy).toContain("frame-ancestors 'none'");
    expect((await visitor.get('/board')).get('cache-control')).toBe('no-store');
  });

  test('chooses the page language from the cookie, then the browser, then English', async () => {
    const visitor = signedOutVisitor(app);
    expect((await visitor.get('/sign-in')).html).toContain('<html lang="en" dir="ltr"');
    expect((await visitor.get('/sign-in', { 'accept-language': 'ar-SA,ar;q=0.9,en;q=0.5' })).html).toContain(
      '<html lang="ar" dir="rtl"',
    );
    await visitor.post('/preferences', { language: 'ar' });
    expect((await visitor.get('/sign-in', { 'accept-language': 'en' })).html).toContain('<html lang="ar" dir="rtl"');
    await visitor.post('/preferences', { language: 'klingon', theme: 'neon' });
    expect(visitor.cookies.get('towhook_language')).toBe('ar');
    expect(visitor.cookies.get('towhook_theme')).toBeUndefined();
  });

  test('redirects a change of preferences back to its page of this console only', async () => {
    const visitor = signedOutVisitor(app);
    const from = (referer: string) => visitor.postRaw('/preferences', 'theme=dark', { referer });
    expect((await from(`${app.consoleUrl}/shortcuts?a=1`)).location).toBe('/shortcuts?a=1');
    expect((await from('not an address')).location).toBe('/board');
    expect((await from('https://elsewhere.example//other.example/x')).location).toBe('/board');
  });
});

test('redirects / to the board for browsers and describes the API as JSON for programs', async () => {
  expect((await signedOutVisitor(app).get('/')).location).toBe('/board');
  const response = await api(app, null).get('/');
  expect(response.body).toMatchObject({ api: '/api/tows' });
});
