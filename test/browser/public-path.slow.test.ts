import { createServer, request as requestTo, type Server } from 'node:http';
import { parseCookie } from 'cookie';
import { z } from 'zod';
import { useBrowser, waitForPath, waitForText } from '../support/browser';
import { portOf } from '../support/server-port';
import { everyAddress } from './every-page';
import { useConsole } from './world';

const BASE = '/towhook';
const browser = useBrowser();
const world = useConsole({ CONSOLE_PUBLIC_URL: `https://ours.example${BASE}/`, CONSOLE_OPEN_PATHS: 'docs' });
/** What the queue pages ask for. */
const basic = () => ({ authorization: `Basic ${Buffer.from(`ops:${world.app.apiKey}`).toString('base64')}` });

/** Removes the path, and answers nothing else. */
let proxy: Server;
const at = (path: string) => `http://127.0.0.1:${portOf(proxy)}${BASE}${path}`;

beforeEach(async () => {
  proxy = createServer((asked, answer) => {
    const path = asked.url?.startsWith(`${BASE}/`) ? asked.url.slice(BASE.length) : null;
    if (path === null) return void answer.writeHead(404).end();
    const { method, headers } = asked;
    const passed = requestTo(world.at(path), { method, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers);
      given.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  proxy.closeAllConnections();
  await new Promise((resolve) => proxy.close(resolve));
});

const ADDRESS = / (?:href|src|action|formaction|hx-(?:get|post|put|patch|delete)|data-live)="([^"#]+)/g;

/** The addresses in a page that lead to this server, without their fragments. */
function addressesIn(html: string): string[] {
  return [...html.matchAll(ADDRESS)]
    .map(([, address = '']) => address.replaceAll('&amp;', '&'))
    .filter((address) => !/^[a-z]+:/.test(address));
}

/** The cookie of a session that was begun below the path. */
async function sessionCookie(): Promise<string> {
  const body = new URLSearchParams({ key: world.app.apiKey, next: '/ops' });
  const response = await fetch(world.at(`${BASE}/sign-in`), { method: 'POST', body, redirect: 'manual' });
  expect(response.headers.get('location')).toBe(`${BASE}/ops`);
  const [cookie = ''] = response.headers.getSetCookie();
  const [name = ''] = Object.keys(parseCookie(cookie));
  return `${name}=${parseCookie(cookie)[name] ?? ''}`;
}

test('every address in every page below a path begins with it and is answered', async () => {
  const cookie = await sessionCookie();
  const get = (address: string, method = 'GET') =>
    fetch(world.at(address), {
      method,
      headers: { cookie, accept: 'text/html', ...(address.startsWith(`${BASE}/queues`) ? basic() : {}) },
      redirect: 'manual',
    });
  const pages = [...(await everyAddress(world)), '/docs', '/queues', '/no-such-page'];
  const addresses = new Set<string>();
  for (const page of pages) {
    const html = await (await get(`${BASE}${page}`)).text();
    // The queue pages alone have a `base`.
    const [, base = `${BASE}${page}`] = /<base href="([^"]*)"/.exec(html) ?? [];
    for (const address of addressesIn(html)) {
      const { pathname, search } = new URL(address, `http://console${base}`);
      addresses.add(`${pathname}${search}`);
    }
  }
  expect(addresses.size).toBeGreaterThan(50);
  expect([...addresses].filter((address) => !address.startsWith(`${BASE}/`))).toEqual([]);
  for (const address of addresses) {
    const asked = await get(address);
    await asked.body?.cancel();
    // Some addresses take forms only.
    const { status, headers } = asked.status === 404 ? await get(address, 'POST') : asked;
    const isAnswered = asked.status < 400 || (asked.status === 404 && status !== 404);
    const isBelow = /^\/towhook(?:\/|$)/.test(headers.get('location') ?? BASE);
    expect({ address, isAnswered, isBelow }).toEqual({ address, isAnswered: true, isBelow: true });
  }
});

test('behind a proxy that removes the path, people sign in, work, and are asked to sign in again', async () => {
  const page = await browser.open({ fastTimers: true });
  await page.goto(at('/tasks?q=1'));
  await waitForPath(page, `${BASE}/sign-in`);
  await page.locator('input[name=key]').fill(await world.keyOf('dispatcher'));
  await page.locator('button[type=submit]').click();
  await waitForPath(page, `${BASE}/tasks?q=1`);
  await page.getByRole('button', { name: 'العربية' }).click();
  await page.locator('html[lang=ar]').waitFor();
  await waitForPath(page, `${BASE}/tasks?q=1`);

  await page.goto(at('/board'));
  await page.locator('body[data-stream=live]').waitFor();
  const ref = await world.orderTow();
  await page.locator(`a[href="${BASE}/tows/${ref}"]`).first().click();
  await waitForPath(page, `${BASE}/tows/${ref}`);
  const notes = `form[action="${BASE}/tows/${ref}/notes"]`;
  await page.locator(`details:not([open]):has(${notes}) > summary`).first().click();
  await page.locator(`${notes} textarea`).fill('Below a path');
  await page.locator(`${notes} button`).first().click();
  await waitForText(page.locator('main'), /Below a path/);

  await page.goto(at('/board'));
  await page.locator('body[data-stream=live]').waitFor();
  await page.context().clearCookies();
  await world.orderTow();
  await waitForPath(page, `${BASE}/sign-in`);
});

test('the addresses in the index of the API, and where scripts are sent after a form, begin with the path', async () => {
  const index = z
    .record(z.string(), z.string())
    .parse(await (await fetch(world.at(`${BASE}/`), { headers: basic() })).json());
  const { name, ...addresses } = index;
  expect(name).toBe('towhook');
  expect(Object.values(addresses).filter((address) => !address.startsWith(`${BASE}/`))).toEqual([]);

  const headers = { cookie: await sessionCookie(), 'hx-boosted': 'true' };
  const page = await (await fetch(world.at(`${BASE}/board`), { headers })).text();
  const [, form_token = ''] = /name="form_token" value="([^"]+)"/.exec(page) ?? [];
  const body = new URLSearchParams({ form_token, language: 'ar' });
  const answer = await fetch(world.at(`${BASE}/preferences`), { method: 'POST', headers, body, redirect: 'manual' });
  expect([answer.status, answer.headers.get('hx-redirect')]).toEqual([200, `${BASE}/board`]);
});

test('behind such a proxy the pages of the API and of the queues load', async () => {
  const page = await browser.open();
  await page.context().setExtraHTTPHeaders({ authorization: `Bearer ${world.app.apiKey}` });
  await page.goto(at('/docs'));
  await page.locator('[data-path="/api/tows"]').first().click();
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.getByRole('button', { name: 'Execute' }).click();
  await waitForText(page.locator('.request-url'), `${BASE}/api/tows`);
  await page.locator('.live-responses-table').waitFor();
  await page.context().setExtraHTTPHeaders(basic());
  await page.goto(at('/queues'));
  await waitForText(page.locator('#root'), /deliveries/i);
});
