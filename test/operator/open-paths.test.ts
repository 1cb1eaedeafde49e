import request from 'supertest';
import { signedIn } from '../console/visitor';
import { startApp, useApp } from '../support/app';
import { api, errorOf, newKey } from './client';

const app = useApp({ role: 'all' });

const DOCS = ['/openapi.json', '/docs', '/docs/start.js', '/docs/swagger-ui.css'];
const CLOSED = ['/metrics', ...DOCS];

describe('console port: metrics and API documentation', () => {
  it.each(CLOSED)('refuses %s without an API key with 401', async (path) => {
    const response = await api(app, null).get(path);
    expect([response.status, errorOf(response).code]).toEqual([401, 'not_authenticated']);
    expect((await api(app, 'thk_wrong').get(path)).status).toBe(401);
    const page = await request(app.consoleUrl).get(path).set('accept', 'text/html');
    expect(page.status).toBe(401);
  });

  it.each(CLOSED)('serves %s to an API key of any role and to a signed-in visitor', async (path) => {
    for (const role of ['viewer', 'crew'] as const) {
      expect((await api(app, await newKey(app, role)).get(path)).status).toBe(200);
    }
    const visitor = await signedIn(app, await newKey(app, 'viewer'));
    expect((await visitor.get(path)).status).toBe(200);
  });

  it('serves metrics on the private listener without an API key', async () => {
    const { status, text } = await request(app.opsUrl).get('/metrics');
    expect(status).toBe(200);
    expect(text).toContain('towhook_due{');
  });
});

describe('console port: CONSOLE_OPEN_PATHS', () => {
  it.each([
    ['metrics', ['/metrics'], DOCS],
    ['docs', DOCS, ['/metrics']],
    ['docs, metrics', CLOSED, []],
  ])('opens the paths of %j and no other', async (value, open, closed) => {
    const environment = { CONSOLE_OPEN_PATHS: value };
    const own = await startApp({ redisUrl: app.redis.url, role: 'console', environment });
    try {
      for (const path of open) expect((await api(own, null).get(path)).status).toBe(200);
      for (const path of [...closed, '/api/tows']) expect((await api(own, null).get(path)).status).toBe(401);
    } finally {
      await own.stop();
    }
  });

  it('refuses to start with an unknown word and names those that are known', async () => {
    const environment = { CONSOLE_OPEN_PATHS: 'metrics,api' };
    await expect(startApp({ redisUrl: app.redis.url, role: 'console', environment })).rejects.toThrow(
      'CONSOLE_OPEN_PATHS must be one of metrics, docs',
    );
  });
});
