import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { isAlive } from '../../src/embedded-redis/probe';
import { expectAccessible, screenshot, transferSize, useBrowser } from '../support/browser';
import { accessibilityFaults } from '../support/browser/accessible';
import { chromium } from '../support/browser/chromium';
import { compiledFile } from '../support/compiled';
import { eventually } from '../support/eventually';
import { PNG } from '../support/images';
import { useSmallSite } from './small-site';

const STYLES = `
  .faint { color: #bbb; background: #fff }
  .tiny { display: inline-block; padding: 0; width: 12px; height: 12px; border: 0 }
  @keyframes turning { to { transform: rotate(1turn) } }
  .turning { animation: turning 1s infinite; width: 50px; height: 20px; background: #000 }
`;
const LONG = 'x'.repeat(100_000);

const browser = useBrowser();
const site = useSmallSite(
  {
    '/good': '<p>Enough contrast.</p>',
    '/faults':
      '<link rel="stylesheet" href="/styles.css"><p class="faint">Faint</p><img src="/dot.png">' +
      '<button class="tiny" aria-label="One"></button><button class="tiny" aria-label="Two"></button>',
    '/moving':
      '<link rel="stylesheet" href="/styles.css"><div class="turning"></div><input aria-label="Key" autofocus>',
    '/heavy':
      '<link rel="stylesheet" href="/styles.css"><script src="/long.js"></script><script src="/live.js"></script>',
  },
  (app) => {
    app.get('/styles.css', (_request, response) => response.type('css').send(STYLES));
    app.get('/dot.png', (_request, response) => response.type('png').send(PNG));
    app.get('/live.js', (_request, response) => response.type('js').send('new EventSource("/stream")'));
    app.get('/stream', (_request, response) => {
      response.type('text/event-stream').write(`data: ${LONG}\n\n`);
    });
    app.get('/long.js', (_request, response) => {
      response
        .type('js')
        .set('content-encoding', 'gzip')
        .set('cache-control', 'max-age=3600')
        .send(gzipSync(`"${LONG}"`));
    });
    app.get('/echo', (request, response) => response.json(request.headers));
  },
);

test('the accessibility check passes a page without faults whose policy forbids inline scripts', async () => {
  const page = await browser.open();
  await page.goto(site.at('/good'));
  await expectAccessible(page);
});

test('the accessibility check reports each fault with its element and its fix', async () => {
  const page = await browser.open();
  await page.goto(site.at('/faults'));
  const faults = await accessibilityFaults(page);
  expect(faults).toContainEqual(expect.stringMatching(/^- image-alt .* at "img": Fix any of the following: .*alt/));
  expect(faults).toContainEqual(expect.stringMatching(/^- color-contrast .* at "p": .*contrast of 1\.91/));
  expect(faults).toContainEqual(expect.stringMatching(/^- target-size .* at "button/));
  await expect(expectAccessible(page)).rejects.toThrow(/\/faults is not accessible:\n- /);
});

test('transferSize counts the bytes on the wire of everything except the event stream and the icon', async () => {
  const page = await browser.open();
  const { bytes, parts } = await transferSize(page, site.at('/heavy'));
  expect(parts.map(({ url }) => new URL(url).pathname).toSorted()).toEqual([
    '/heavy',
    '/live.js',
    '/long.js',
    '/styles.css',
  ]);
  expect(bytes).toBe(parts.reduce((sum, part) => sum + part.bytes, 0));
  expect(bytes).toBeGreaterThan(500);
  expect(bytes).toBeLessThan(5000);
});

test('transferSize measures each view with an empty cache', async () => {
  const page = await browser.open();
  const first = await transferSize(page, site.at('/heavy'));
  const second = await transferSize(page, site.at('/heavy'));
  expect(second.bytes).toBe(first.bytes);
});

test('the test browser opens a page with the requested language, viewport, theme and cookies', async () => {
  const page = await browser.open({
    language: 'ar',
    viewport: 'phone',
    theme: 'dark',
    cookies: [{ name: 'seen', value: '1', url: site.at('/') }],
  });
  const answer = await page.goto(site.at('/echo'));
  const headers = z.record(z.string(), z.string()).parse(await answer?.json());
  expect(headers['cookie']).toBe('seen=1');
  expect(headers['accept-language']).toMatch(/^ar-SA/);
  expect(await page.evaluate('[screen.width, matchMedia("(prefers-color-scheme: dark)").matches]')).toEqual([
    390,
    true,
  ]);
});

test('the test browser shares no cookies between visitors', async () => {
  const first = await browser.open({ cookies: [{ name: 'seen', value: '1', url: site.at('/') }] });
  await first.goto(site.at('/echo'));
  const second = await browser.open();
  const answer = await second.goto(site.at('/echo'));
  expect(await answer?.json()).not.toHaveProperty('cookie');
});

test('the test browser runs no script when JavaScript is off', async () => {
  const page = await browser.open({ javaScript: false });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(site.at('/heavy'));
  expect(asked).not.toContain('/stream');
});

test('two screenshots of an animated page are identical', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-pictures-'));
  try {
    const page = await browser.open();
    await page.goto(site.at('/moving'));
    const files = ['one.png', 'two.png'].map((name) => join(folder, 'deep', name));
    for (const file of files) await screenshot(page, file);
    const [one, two] = await Promise.all(files.map((file) => readFile(file)));
    expect(one?.subarray(1, 4).toString()).toBe('PNG');
    expect(two?.equals(one ?? Buffer.alloc(0))).toBe(true);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('the test browser ends and its profile is removed when the process that started it is killed', async () => {
  const module = JSON.stringify(compiledFile('test/support/browser/browser.ts'));
  const script = `require(${module}).startBrowser().then((browser) => console.log(browser.processId))`;
  const child = spawn(process.execPath, ['--eval', script], {
    env: { ...process.env, CHROMIUM_PATH: await chromium() },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const processId = await new Promise<number>((resolve) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(Number(chunk.toString())));
  });
  const [, profile = ''] = /--user-data-dir=([^\0]+)/.exec(readFileSync(`/proc/${processId}/cmdline`, 'utf8')) ?? [];
  expect(existsSync(profile)).toBe(true);

  child.kill('SIGKILL');

  await eventually(() => {
    expect({ isAlive: isRunning(processId), hasProfile: existsSync(profile) }).toEqual({
      isAlive: false,
      hasProfile: false,
    });
  });
});

/** True for a running process. In a container, ended processes may stay listed as zombies. */
function isRunning(processId: number): boolean {
  return isAlive(processId) && !/^State:\s+Z/m.test(readFileSync(`/proc/${processId}/status`, 'utf8'));
}
