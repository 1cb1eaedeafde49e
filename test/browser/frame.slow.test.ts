import type { Page } from 'playwright-core';
import { messagesIn } from '../../src/console/messages';
import { focused, useBrowser, waitForCount, waitForText } from '../support/browser';
import { eventually } from '../support/eventually';
import { useConsole } from './world';

/** The header of every page and the behaviour of every form. */

const browser = useBrowser();
const world = useConsole();
const { keys, common } = messagesIn('en');

/** Records the bodies of the forms that are sent to this path from now on. */
function formsSent(page: Page, path: string): readonly string[] {
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && new URL(request.url()).pathname === path) sent.push(request.postData() ?? '');
  });
  return sent;
}

async function nameNewKey(page: Page): Promise<void> {
  await page.getByLabel(keys.name).fill('Night shift');
  await page.getByLabel(keys.role).selectOption('viewer');
}

test('a double click sends a form once and the page shows the new key', async () => {
  const page = await browser.open();
  await world.signIn(page, 'ops', '/ops/keys');
  await nameNewKey(page);
  const sent = formsSent(page, '/ops/keys');
  await page.getByRole('button', { name: keys.submit }).dblclick();
  expect(await page.getByLabel(messagesIn('en').signIn.key).inputValue()).toMatch(/^thk_/);
  expect(sent).toHaveLength(1);
  // The key is shown once: the page offers nothing that loads it again.
  expect(await page.getByRole('button', { name: common.otherLanguage }).count()).toBe(0);
});

test('a form without an answer yet can be sent again after a change, and at once after its request failed', async () => {
  const page = await browser.open();
  await world.signIn(page, 'ops', '/ops/keys');
  await nameNewKey(page);
  const sent = formsSent(page, '/ops/keys');
  await page.route('**/ops/keys', () => {}, { times: 1 });
  const submit = page.getByRole('button', { name: keys.submit });
  await submit.click();
  await eventually(() => expect(sent).toHaveLength(1));
  await submit.click();
  await page.route('**/ops/keys', (route) => route.abort('aborted'), { times: 1 });
  await page.getByLabel(keys.name).fill('Day shift');
  await submit.click();
  await waitForText(page.locator('[data-outcome]'), common.outcomes.uncertain);
  expect(sent).toHaveLength(2);
  expect(sent[1]).toContain('Day+shift');
  await submit.click();
  await eventually(() => expect(sent).toHaveLength(3));
});

test('a double click on the language button sends its value once and switches the language', async () => {
  const page = await browser.open();
  await world.signIn(page, 'viewer');
  const sent = formsSent(page, '/preferences');
  await page.getByRole('button', { name: common.otherLanguage }).dblclick();
  await waitForText(page.getByRole('heading', { level: 1 }), messagesIn('ar').common.board);
  expect(sent).toEqual([expect.stringContaining('language=ar')]);
});

test('Escape closes the theme menu and returns the focus to its button', async () => {
  const page = await browser.open();
  await world.signIn(page, 'viewer');
  await page.getByLabel(common.theme).click();
  await page.keyboard.press('Tab');
  expect(await focused(page).innerText()).toBe(common.themes.auto);
  await page.keyboard.press('Escape');
  await waitForCount(page.locator('details.menu[open]'), 0);
  expect(await focused(page).getAttribute('aria-label')).toBe(common.theme);
});

test.each(['en', 'ar'] as const)(
  'all navigation links are visible in one row on a phone 360 pixels wide in %s',
  async (language) => {
    const page = await browser.open({ language, viewport: 'phone' });
    await page.setViewportSize({ width: 360, height: 740 });
    await world.refuseOnce('started');
    const ref = await world.orderTow();
    await world.record(ref, 'started');
    await eventually(async () => expect(await world.tasks()).toHaveLength(1));
    await world.signIn(page, 'ops');
    await waitForText(page.locator('#open-tasks'), /1/);
    const links = await page.locator('header nav a').all();
    expect(links).toHaveLength(5);
    const boxes = await Promise.all(links.map((link) => link.boundingBox()));
    for (const box of boxes) {
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(360);
    }
    expect(new Set(boxes.map((box) => box?.y)).size).toBe(1);
    const { common: messages } = messagesIn(language);
    await page.getByRole('link', { name: messages.ops }).click();
    await waitForText(page.getByRole('heading', { level: 1 }), /./);
  },
);
