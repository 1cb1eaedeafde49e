import type { Page } from 'playwright-core';
import { z } from 'zod';
import { wordsOf } from '../../src/console/words';
import { apiKeyView } from '../../src/contracts/operator';
import { useBrowser, waitForPath, waitForText } from '../support/browser';
import { eventually } from '../support/eventually';
import { useConsole } from './world';

/** The stream of events under what networks, proxies and the end of a session do to it. */

const browser = useBrowser();
const world = useConsole();
const { common } = wordsOf('en');

const STREAM = /\/api\/events/;
const live = (page: Page) => page.locator('body[data-stream=live]').waitFor();
const label = (page: Page) => page.locator('[data-live-state]');

/** Paths of the parts of pages that a page asks for by itself from now on. */
function partsAsked(page: Page): readonly string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.headers()['hx-request'] === 'true') asked.push(new URL(request.url()).pathname);
  });
  return asked;
}

test.each([502, 503])(
  'a stream that is answered %d is asked for again, says so, and misses nothing',
  async (status) => {
    const page = await browser.open();
    await world.signIn(page, 'viewer');
    browser.announce(page, { path: STREAM, status });
    let streams = 0;
    await page.route(STREAM, async (route) => {
      streams += 1;
      await (streams <= 2 ? route.fulfill({ status, body: 'bad gateway' }) : route.continue());
    });
    await page.reload();
    await waitForText(label(page), common.liveLost);
    const ref = await world.orderTow();
    await live(page);
    await waitForText(label(page), common.live);
    expect(streams).toBe(3);
    await page.locator('#board').getByText(ref).first().waitFor();
  },
);

test('a page that is paused and goes on while there is no connection says that there is none', async () => {
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

test('whose session has ended is led to the page that signs in once the stream is refused', async () => {
  const page = await browser.open();
  await world.signIn(page, 'viewer');
  await live(page);
  const { items } = z.object({ items: z.array(apiKeyView) }).parse(await (await world.call('GET', '/keys')).json());
  await world.call('DELETE', `/keys/${items.find(({ name }) => name === 'viewer')?.id}`);
  browser.announce(page, { path: STREAM, status: 401 });
  // As when somebody goes to another page and back.
  await page.evaluate("dispatchEvent(new Event('pagehide')); dispatchEvent(new Event('pageshow'))");
  await waitForPath(page, '/sign-in?next=%2Fboard');
});

test('a page that was just loaded is not fetched again for nothing', async () => {
  const ref = await world.orderTow();
  const page = await browser.open();
  await world.signIn(page, 'viewer');
  await page.goto(world.at('/shortcuts'));
  await page.goto(world.at(`/tows/${ref}`));
  const asked = partsAsked(page);
  await live(page);
  // Of this the number of open tasks is fetched, together with whatever else is due then.
  const event = JSON.stringify({ type: 'task.opened', at_ms: 1_700_000_000_000 });
  await world.app.foundation.redis.publish('{p0}:events', event);
  await eventually(() => expect(asked).toContain('/tasks/count'));
  await page.title();
  expect(asked).toEqual(['/tasks/count']);
});

test('what happens between the making of a page and the opening of its stream is seen', async () => {
  const ref = await world.orderTow();
  const page = await browser.open();
  await world.signIn(page, 'viewer');
  const happens = async () => {
    await world.record(ref, 'started');
    // Nothing more happens of which the page could hear later.
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
