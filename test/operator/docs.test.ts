import { useApp } from '../support/app';
import { api } from './client';

const app = useApp({ role: 'console' });

const page = () => api(app).get('/docs');

/** The URLs in a text, of files and of other hosts; the script names one relative to its own. */
function addressesIn(text: string): string[] {
  const named = text.matchAll(/(?:src|href|url)\s*[=:]\s*(?:new URL\()?['"]([^'"]+)['"]/g);
  return [...named].map(([, address = '']) => address.replace(/^\.\.\//, '/'));
}

test('serves the API documentation page', async () => {
  const response = await page();
  expect(response.status).toBe(200);
  expect(response.type).toBe('text/html');
  expect(response.text).toContain('<div id="api">');
});

test('serves every file of the API documentation page from the console itself', async () => {
  const named = addressesIn((await page()).text);
  const started = addressesIn((await api(app).get('/docs/start.js')).text);
  const responses = await Promise.all([...named, ...started].map((path) => api(app).get(path)));

  expect([...named, ...started].toSorted((a, b) => a.localeCompare(b))).toEqual([
    '/docs/icon.png',
    '/docs/start.js',
    '/docs/swagger-ui.css',
    '/docs/swagger-ui.js',
    '/openapi.json',
  ]);
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const types = responses.map(({ type }) => type);
  expect(new Set(types)).toEqual(new Set(['application/json', 'image/png', 'text/css', 'text/javascript']));
});

test('names no external URL in the API documentation page, its script and its style sheet', async () => {
  const texts = [(await page()).text, (await api(app).get('/docs/start.js')).text];
  for (const text of texts) {
    expect(text).not.toMatch(/(?:https?:)?\/\/[a-z0-9.-]+\.[a-z]+/i);
    expect(addressesIn(text).every((address) => /^\/[^/]/.test(address))).toBe(true);
  }
  const css = (await api(app).get('/docs/swagger-ui.css')).text;
  expect([...css.matchAll(/url\((?!["']?data:)/g)]).toEqual([]);
  expect(css).not.toContain('@import');
});

test('does not store API keys in the browser and calls no validator on the API documentation page', async () => {
  const { text } = await api(app).get('/docs/start.js');
  expect(text).toContain('persistAuthorization: false');
  expect(text).toContain('validatorUrl: null');
});

test('restricts the API documentation page to resources of its own listener', async () => {
  const policy = (await page()).get('content-security-policy') ?? '';
  const rules = policy.split(';').map((rule) => rule.trim().split(' '));
  expect(rules.find(([name]) => name === 'default-src')).toEqual(['default-src', "'none'"]);
  expect(rules.find(([name]) => name === 'script-src')).toEqual(['script-src', "'self'"]);
  expect(rules.find(([name]) => name === 'connect-src')).toEqual(['connect-src', "'self'"]);
  expect(policy).not.toContain('http');
});
