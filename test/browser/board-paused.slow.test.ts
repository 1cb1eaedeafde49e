import { EventEmitter, once } from 'node:events';
import type { Page } from 'playwright-core';
import { useBrowser, waitForText } from '../support/browser';
import { useConsole } from './world';

const browser = useBrowser({ fastTimers: true });
const world = useConsole();

const row = (page: Page, ref: string) => page.locator('.tow-row').filter({ hasText: ref });

/** A live board in the browser of a viewer. */
async function openBoard(opened?: Page): Promise<Page> {
  const page = opened ?? (await browser.open());
  await world.signIn(page, 'viewer', '/board');
  await page.locator('body[data-stream=live]').waitFor();
  return page;
}

test('a board that is paused while a refresh is on its way keeps what it shows', async () => {
  const ref = await world.orderTow();
  const page = await browser.open();
  const steps = new EventEmitter();
  const [asked, released] = [once(steps, 'asked'), once(steps, 'released')];
  // Before the board opens: a refresh for the order of the tow could show the fact before the board is paused.
  await page.route('**/board/live', async (route) => {
    steps.emit('asked');
    await released;
    await route.continue();
  });
  await openBoard(page);
  await world.record(ref, 'started');
  await asked;
  await page.keyboard.press('p');
  await waitForText(page.locator('[data-live-state]'), /Paused/);
  const finished = page.waitForEvent('requestfinished', (request) => request.url().endsWith('/board/live'));
  steps.emit('released');
  await finished;
  expect(await row(page, ref).innerText()).toContain('Requested');
  await page.keyboard.press('p');
  await waitForText(row(page, ref), 'Started');
});

test('a paused board shows no changes until it is resumed', async () => {
  const ref = await world.orderTow();
  const page = await openBoard();
  await page.keyboard.press('p');
  await world.record(ref, 'started');
  await waitForText(page.locator('[data-live-state]'), /Paused \(\d+\)/);
  expect(await row(page, ref).innerText()).toContain('Requested');
  await page.keyboard.press('p');
  await waitForText(row(page, ref), 'Accepted');
});
