import { useApp } from '../support/app';
import { get } from './client';

const app = useApp({ role: 'console' });

const page = () => get(app, '/docs', { apiKey: null });

/** Every address that a text names, of files and of other hosts. */
function addressesIn(text: string): string[] {
  return [...text.matchAll(/(?:src|href|url)\s*[=:]\s*['"]([^'"]+)['"]/g)].map(([, address = '']) => address);
}

test('the page is shown to everybody, without a key', async () => {
  const answer = await page();
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toContain('text/html');
  expect(answer.text).toContain('<div id="api">');
});

test('every file that the page names is served by the console itself', async () => {
  const named = addressesIn((await page()).text);
  const started = addressesIn((await get(app, '/docs/start.js', { apiKey: null })).text);
  const answers = await Promise.all([...named, ...started].map((path) => get(app, path, { apiKey: null })));

  expect([...named, ...started].toSorted((a, b) => a.localeCompare(b))).toEqual([
    '/docs/icon.png',
    '/docs/start.js',
    '/docs/swagger-ui.css',
    '/docs/swagger-ui.js',
    '/openapi.json',
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const types = answers.map(({ headers }) => headers.get('content-type')?.split(';')[0]);
  expect(new Set(types)).toEqual(new Set(['application/json', 'image/png', 'text/css', 'text/javascript']));
});

test('nothing of ours names an address outside', async () => {
  const texts = [(await page()).text, (await get(app, '/docs/start.js', { apiKey: null })).text];
  for (const text of texts) {
    expect(text).not.toMatch(/(?:https?:)?\/\/[a-z0-9.-]+\.[a-z]+/i);
    expect(addressesIn(text).every((address) => /^\/[^/]/.test(address))).toBe(true);
  }
  const css = (await get(app, '/docs/swagger-ui.css', { apiKey: null })).text;
  expect([...css.matchAll(/url\((?!["']?data:)/g)]).toEqual([]);
  expect(css).not.toContain('@import');
});

test('no key is kept, and no validator is asked', async () => {
  const { text } = await get(app, '/docs/start.js', { apiKey: null });
  expect(text).toContain('persistAuthorization: false');
  expect(text).toContain('validatorUrl: null');
});

test('the browser is allowed nothing but this listener', async () => {
  const policy = (await page()).headers.get('content-security-policy') ?? '';
  const rules = policy.split(';').map((rule) => rule.trim().split(' '));
  expect(rules.find(([name]) => name === 'default-src')).toEqual(['default-src', "'none'"]);
  expect(rules.find(([name]) => name === 'script-src')).toEqual(['script-src', "'self'"]);
  expect(rules.find(([name]) => name === 'connect-src')).toEqual(['connect-src', "'self'"]);
  expect(policy).not.toContain('http');
});
