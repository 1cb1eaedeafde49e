import type { Page } from 'playwright-core';
import { z } from 'zod';
import { messagesIn } from '../../src/console/messages';
import { apiKeyView } from '../../src/contracts/operator';
import { general } from '../../src/domain/ops/changes';
import type { Role } from '../../src/domain/vocabulary';
import { changeEffect } from '../../src/store/ops/changes';
import { recordsOf } from '../../src/store/outbox/records';
import { newTow } from '../operator/world';
import { expectAccessible, useBrowser, waitForPath, waitForText } from '../support/browser';
import { PNG } from '../support/images';
import { eventually } from '../support/eventually';
import { useConsole } from './world';

/** The stream of events during failures of the network and of proxies, and after the end of a session. */

const browser = useBrowser({ fastTimers: true });
const world = useConsole();
const { common } = messagesIn('en');

const STREAM = /\/api\/events/;
const live = (page: Page) => page.locator('body[data-stream=live]').waitFor();
const label = (page: Page) => page.locator('[data-live-state]');

/** Records the paths of the parts of pages that the page requests by script from now on. */
function partsAsked(page: Page): readonly string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.headers()['hx-request'] === 'true') asked.push(new URL(request.url()).pathname);
  });
  return asked;
}

/** Deletes the key of a role, which ends its sessions, and lets the page open its stream again. */
async function endSessionsOf(role: Role, page: Page): Promise<void> {
  const { items } = z.object({ items: z.array(apiKeyView) }).parse(await (await world.call('GET', '/keys')).json());
  await world.call('DELETE', `/keys/${items.find(({ name }) => name === role)?.id}`);
  browser.announce(page, { path: STREAM, status: 401 });
  // These events are sent when a user goes to another page and back.
  await page.evaluate("dispatchEvent(new Event('pagehide')); dispatchEvent(new Event('pageshow'))");
}

/** Records the requests by which the page asks from now on whether its session has ended. */
function probesOf(page: Page): readonly string[] {
  const probes: string[] = [];
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (pathname === '/tasks/count' && response.status() === 303) probes.push(pathname);
  });
  return probes;
}

/** Adds a change on which every page requests the number of open tasks. */
async function addTaskChange(): Promise<void> {
  const effects = [changeEffect(general('task.opened'))];
  await recordsOf(world.app.foundation.redis).commit({ records: [], effects });
}

/** Waits until the changes so far have arrived at `page`, which must be live. */
async function untilChangesArrived(page: Page): Promise<void> {
  const asked = partsAsked(page);
  await addTaskChange();
  // Changes keep their order: when this one has arrived, the earlier ones have too.
  await eventually(() => expect(asked).toContain('/tasks/count'));
}

test.each([502, 503])(
  'a live page whose stream fails with %d shows that, reconnects, and shows what changed in between',
  async (status) => {
    const page = await browser.open();
    await world.signIn(page, 'viewer');
    browser.announce(page, { path: STREAM, status });
    let streams = 0;
    let reconnect = () => {};
    const mayReconnect = new Promise<void>((resolve) => (reconnect = resolve));
    await page.route(STREAM, async (route) => {
      streams += 1;
      if (streams <= 2) return route.fulfill({ status, body: 'bad gateway' });
      await mayReconnect;
      return route.continue();
    });
    await page.reload();
    await waitForText(label(page), common.liveLost);
    const ref = await world.orderTow();
    reconnect();
    await live(page);
    await waitForText(label(page), common.live);
    expect(streams).toBe(3);
    await page.locator('#board').getByText(ref).first().waitFor();
  },
);

test('a page that is paused and resumed without a connection shows that it has no connection', async () => {
  const page = await browser.open();
  await world.signIn(page, 'viewer');
  await live(page);
  browser.announce(page, { path: STREAM, status: 503 });
  await page.route(STREAM, (route) => route.fulfill({ status: 503 }));
  await page.reload();
  await waitForText(label(page), common.liveLost);
  await page.keyboard.press('p');
  await waitForText(label(page), common.livePaused);
  await page.keyboard.press('p');
  await waitForText(label(page), common.liveLost);
});

test('a live page whose session has ended goes to the sign-in page when its stream is refused', async () => {
  const page = await browser.open();
  await world.signIn(page, 'viewer');
  await live(page);
  await endSessionsOf('viewer', page);
  await waitForPath(page, '/sign-in?next=%2Fboard');
});

test('a page whose session has ended keeps what was typed, and goes to the sign-in page once nothing is left', async () => {
  const ref = await world.orderTow();
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', `/tows/${ref}`);
  await live(page);
  const plate = page.locator('#form-started').getByLabel('Plate');
  await plate.fill('KLM 77');
  const probes = probesOf(page);
  await endSessionsOf('dispatcher', page);
  await waitForText(label(page), common.liveLost);
  await eventually(() => expect(probes.length).toBeGreaterThan(1));
  // Refreshes are redirected to the sign-in page too.
  await page.evaluate("document.querySelector('#tow').dispatchEvent(new CustomEvent('changed'))");
  const after = probes.length;
  await eventually(() => expect(probes.length).toBeGreaterThan(after));
  expect([await plate.inputValue(), new URL(page.url()).pathname]).toEqual(['KLM 77', `/tows/${ref}`]);
  await plate.fill('');
  await waitForPath(page, `/sign-in?next=${encodeURIComponent(`/tows/${ref}`)}`);
});

test('the violation form keeps its chosen images when the session has ended, and an empty form goes to the sign-in page', async () => {
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', '/violations/new');
  await live(page);
  await page
    .locator('input[type=file]:not([data-camera])')
    .setInputFiles([{ name: 'front.png', mimeType: 'image/png', buffer: PNG }]);
  await page.locator('[data-previews] li').waitFor();
  const probes = probesOf(page);
  await endSessionsOf('dispatcher', page);
  await eventually(() => expect(probes.length).toBeGreaterThan(1));
  expect(await page.locator('[data-previews] li').count()).toBe(1);
  await page.locator('[data-previews] li button').click();
  await waitForPath(page, '/sign-in?next=%2Fviolations%2Fnew');
});

test('the board keeps a crew that was typed when its form token has expired, and loads again once nothing is left', async () => {
  await world.orderTow();
  const page = await browser.open();
  await world.signIn(page, 'dispatcher');
  await live(page);
  await page.locator('#board summary', { hasText: 'Assign' }).first().click();
  const crew = page.locator('#board input[name=crew]').first();
  await crew.fill('North crew');
  browser.announce(page, { path: '/board/live', status: 403 });
  const refused = page.waitForResponse((response) => response.url().endsWith('/board/live') && !response.ok());
  // Signs in again, as in another tab.
  const other = await page.context().newPage();
  await world.signIn(other, 'dispatcher');
  await other.close();
  const refresh = "document.querySelector('#board').dispatchEvent(new CustomEvent('changed'))";
  await page.evaluate(refresh);
  expect((await refused).status()).toBe(403);
  expect(await crew.inputValue()).toBe('North crew');
  await crew.fill('');
  const reloaded = page.waitForEvent('load');
  await page.evaluate(refresh);
  await reloaded;
  await live(page);
  expect(await page.locator('#board').count()).toBe(1);
  expect(await page.locator('#board .narrow').count()).toBe(0);
});

test('a live page of a tow shows changes when its reference contains a space', async () => {
  const ref = await newTow(world.app, { towing_reference_id: 'TW 2026 1' });
  const page = await browser.open();
  await world.signIn(page, 'viewer', `/tows/${encodeURIComponent(ref)}`);
  await live(page);
  await world.call('POST', `/tows/${encodeURIComponent(ref)}/notes`, { text: 'the gate is locked' });
  await page.locator('#tow').getByText('the gate is locked').first().waitFor();
});

test('a page that was just loaded does not request its content again', async () => {
  const ref = await world.orderTow();
  const page = await browser.open();
  await world.signIn(page, 'viewer');
  await live(page);
  await untilChangesArrived(page);
  await page.goto(world.at('/shortcuts'));
  await page.goto(world.at(`/tows/${ref}`));
  const asked = partsAsked(page);
  await live(page);
  // The number of open tasks is requested together with all other parts that are due.
  await addTaskChange();
  await eventually(() => expect(asked).toContain('/tasks/count'));
  await page.title();
  expect(new Set(asked)).toEqual(new Set(['/tasks/count']));
});

test('a page shows a change that happened after it was made and before its stream was open', async () => {
  const ref = await world.orderTow();
  const page = await browser.open();
  await world.signIn(page, 'viewer');
  const happens = async () => {
    await world.record(ref, 'started');
    // No later event may cause the refresh that this test is about.
    await world.towWhen(ref, ({ reports }) => reports.length > 0 && reports.every(({ state }) => state === 'accepted'));
  };
  let happened: Promise<void> | null = null;
  await page.route(STREAM, async (route) => {
    happened ??= happens();
    await happened;
    await route.continue();
  });
  await page.goto(world.at(`/tows/${ref}`));
  await waitForText(page.locator('.plate').first(), 'A B J 1234');
});

// A proxy in front of the console answers 401.
test.each([401, 503])(
  'a live page repeats the refresh of a part that was answered with %i, and shows the lost connection',
  async (status) => {
    const ref = await world.orderTow();
    const page = await browser.open();
    await world.signIn(page, 'viewer');
    await page.goto(world.at(`/tows/${ref}`));
    await live(page);
    const path = `/tows/${ref}`;
    browser.announce(page, { path, status });
    let isDown = true;
    let refused = 0;
    await page.route(world.at(path), async (route) => {
      if (!isDown) return route.continue();
      refused += 1;
      return route.fulfill({ status, contentType: 'text/html', body: '<h1>nginx</h1>' });
    });
    await world.record(ref, 'started');
    // No later event may cause the refresh that this test is about.
    await world.towWhen(ref, ({ reports }) => reports.length > 0 && reports.every(({ state }) => state === 'accepted'));
    const refusedAfterEvents = refused;
    await eventually(() => expect(refused).toBeGreaterThan(refusedAfterEvents + 2), 60_000);
    await waitForText(label(page), common.liveLost);
    isDown = false;
    await waitForText(page.locator('.plate').first(), 'A B J 1234');
    await waitForText(label(page), common.live);
  },
);

test('a board on a phone whose stream is open shows a lost connection while the console refuses all refreshes', async () => {
  const page = await browser.open({ viewport: 'phone' });
  await world.signIn(page, 'viewer');
  await live(page);
  browser.announce(page, { path: '/tasks/count', status: 503 });
  let isDown = true;
  await page.route(world.at('/tasks/count'), (route) => (isDown ? route.fulfill({ status: 503 }) : route.continue()));
  await waitForText(label(page), common.liveLost);
  // Readable, and in sight at the end of the page too.
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  const box = await label(page).boundingBox();
  expect(box?.width).toBeGreaterThan(300);
  expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual(await page.evaluate<number>('innerHeight'));
  const style =
    "(({ position, fontSize }) => [position, fontSize])(getComputedStyle(document.querySelector('.live-state')))";
  expect(await page.evaluate(style)).toEqual(['fixed', '15px']);
  await expectAccessible(page);
  isDown = false;
  await waitForText(label(page), common.live);
  expect((await label(page).boundingBox())?.width ?? 0).toBeLessThan(100);
});

/** Hides or shows the page, as another tab of the browser does. */
const setHidden = (isHidden: boolean) => (page: Page) =>
  page.evaluate(`(() => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} });
    document.dispatchEvent(new Event('visibilitychange'));
  })()`);
const pressPause = (page: Page) => page.keyboard.press('p');

test.each([
  ['hidden', setHidden(true), setHidden(false)],
  ['paused', pressPause, pressPause],
])('a page that is %s loads nothing, and once when it no longer is', async (_what, leave, comeBack) => {
  const page = await browser.open({ fastTimers: false });
  await page.clock.install();
  await world.signIn(page, 'viewer');
  await live(page);
  await leave(page);
  const asked = partsAsked(page);
  // The number of open tasks is refreshed every minute.
  await page.clock.fastForward(150_000);
  await page.title();
  expect(asked).toEqual([]);
  await comeBack(page);
  await eventually(() => expect(asked.toSorted()).toEqual(['/board/live', '/tasks/count']));
  await live(page);
});

/** Opens live pages of one visitor, and records the paths of the streams that they request. */
async function openWindows(count: number): Promise<{ pages: readonly Page[]; streams: readonly string[] }> {
  const first = await browser.open();
  const streams: string[] = [];
  first.context().on('request', (request) => {
    if (STREAM.test(request.url())) streams.push(request.url());
  });
  await world.signIn(first, 'viewer');
  await live(first);
  const pages = [first];
  while (pages.length < count) {
    const page = await first.context().newPage();
    await page.goto(world.at('/board'));
    await live(page);
    pages.push(page);
  }
  return { pages, streams };
}

test('eight visible windows load, show changes, and share one stream', async () => {
  const { pages, streams } = await openWindows(8);
  const ref = await world.orderTow();
  for (const page of pages) await page.locator('#board').getByText(ref).first().waitFor();
  expect(streams).toHaveLength(1);
});

test('a window that was just loaded beside another one does not request its content again', async () => {
  const { pages } = await openWindows(2);
  const [first, second] = pages;
  if (first === undefined || second === undefined) throw new Error('there are two pages');
  await untilChangesArrived(first);
  const asked = partsAsked(second);
  await second.goto(world.at('/board'));
  await live(second);
  await addTaskChange();
  await eventually(() => expect(asked).toContain('/tasks/count'));
  expect(new Set(asked)).toEqual(new Set(['/tasks/count']));
});

test.each([
  ['closed', (page: Page) => page.close()],
  ['hidden', setHidden(true)],
])(
  'when the window with the stream is %s another one takes over and shows what changed meanwhile',
  async (_how, end) => {
    const { pages, streams } = await openWindows(3);
    const [leading, ...others] = pages;
    if (leading === undefined) throw new Error('there are three pages');
    browser.announce(leading, { path: STREAM, status: 503 });
    let isDown = true;
    await leading.context().route(STREAM, (route) => (isDown ? route.fulfill({ status: 503 }) : route.fallback()));
    await end(leading);
    await eventually(() => expect(streams.length).toBeGreaterThan(1));
    const ref = await world.orderTow();
    isDown = false;
    await leading.context().unroute(STREAM);
    for (const page of others) await page.locator('#board').getByText(ref).first().waitFor();
    await world.record(ref, 'started');
    for (const page of others) await waitForText(page.locator('.tow-row'), 'Started');
  },
);

test('no window keeps its stream after another user has signed in, or this one out, unless it has unsent entries', async () => {
  const ref = await world.orderTow();
  const path = `/tows/${ref}`;
  const { pages, streams } = await openWindows(2);
  const [first, second] = pages;
  if (first === undefined || second === undefined) throw new Error('there are two pages');
  await second.goto(world.at(path));
  await world.signIn(first, 'dispatcher', path);
  await second.locator('.who', { hasText: 'dispatcher' }).waitFor({ state: 'attached' });
  await live(second);
  await first.locator('#form-started').getByLabel('Plate').fill('KLM 77');
  await world.signIn(second, 'ops', path);
  await live(second);
  await waitForText(label(first), common.liveLost);
  const before = streams.length;
  await world.record(ref, 'started');
  await waitForText(second.locator('.plate').first(), 'A B J 1234');
  expect(await first.locator('#form-started').getByLabel('Plate').inputValue()).toBe('KLM 77');
  expect(streams).toHaveLength(before);
  await first.locator('#form-started').getByLabel('Plate').fill('');
  await live(first);
  // The one that leads stays.
  await first.evaluate(`document.querySelector('form[action="/sign-out"] button').click()`);
  await waitForPath(second, `/sign-in?next=${encodeURIComponent(path)}`);
});
