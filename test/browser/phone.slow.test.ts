import type { Page } from 'playwright-core';
import { useBrowser, waitForText } from '../support/browser';
import { everyAddress } from './every-page';
import { useConsole } from './world';

jest.setTimeout(240_000);
const browser = useBrowser();
const world = useConsole();

/** A phone in the browser of the tests: 390 x 844 CSS pixels. */
const SCREEN_HEIGHT = 844;
const SCREEN_WIDTH = 390;
/** Two rows of targets of 40 px do not fit. */
const ROW_HEIGHT_MAX = 60;

/** The narrowest phones that are sold, and a usual one. */
const PHONES = [
  { width: 360, height: 740 },
  { width: SCREEN_WIDTH, height: SCREEN_HEIGHT },
];

const heightOf = async (page: Page, selector: string) => (await page.locator(selector).boundingBox())?.height;

test.each(['en', 'ar'] as const)('on a phone the header takes one row, in language %s', async (language) => {
  const page = await browser.open({ language, viewport: 'phone' });
  await world.signIn(page, 'ops');
  expect(await heightOf(page, 'header.top')).toBeLessThan(ROW_HEIGHT_MAX);
});

test.each(['en', 'ar'] as const)(
  'on a phone the tab of the current ops page is in sight, in language %s',
  async (language) => {
    const page = await browser.open({ language, viewport: 'phone' });
    await world.signIn(page, 'ops', '/ops/audit');
    const box = await page.locator('.ops-tabs [aria-current]').boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? Infinity)).toBeLessThanOrEqual(SCREEN_WIDTH);
  },
);

test.each([
  ['en', true],
  ['ar', true],
  ['en', false],
] as const)(
  'on a phone the first tow is in the upper third of the board, in language %s, scripts %s',
  async (language, javaScript) => {
    const ref = await world.orderTow();
    const page = await browser.open({ language, javaScript, viewport: 'phone' });
    await world.signIn(page, 'dispatcher', '/board');
    const link = page.locator('.tow-row').first().getByRole('link', { name: ref });
    const box = await link.boundingBox();
    expect((box?.y ?? SCREEN_HEIGHT) + (box?.height ?? 0)).toBeLessThan(SCREEN_HEIGHT / 3);
    await page.locator('#board-filters > summary').click();
    await page.locator('#board-filters a.chip').first().waitFor({ state: 'visible' });
  },
);

test('on a phone the menu of the header offers language, theme and signing out without scripts', async () => {
  const page = await browser.open({ javaScript: false, viewport: 'phone' });
  await world.signIn(page, 'viewer', '/board');
  const signOut = page.locator('form[action="/sign-out"] button');
  expect(await signOut.isVisible()).toBe(false);
  await page.locator('header.top > details > summary').click();
  await signOut.waitFor({ state: 'visible' });
  await page.locator('header.top button[name="language"]').click();
  await page.locator('html[lang="ar"]').waitFor({ state: 'attached' });
});

/** The elements that end outside the window or their box, or scroll sideways. Code, fields and hidden elements may. */
const CUT_OFF = `(() => {
  const width = document.documentElement.clientWidth;
  const unseen = '.visually-hidden, thead, pre, textarea, input, dialog:not([open]), details:not([open]) > :not(summary)';
  return [...document.querySelectorAll('body *')]
    .filter((element) => element.closest(unseen) === null && element.checkVisibility())
    .filter((element) => {
      const { left, right, width: own } = element.getBoundingClientRect();
      // Only screen readers read it.
      if (own <= 2) return false;
      const scrolls = element.scrollWidth > element.clientWidth + 1;
      const { overflowX, display } = getComputedStyle(element);
      const isClipped = scrolls && overflowX !== 'visible' && display !== 'inline';
      const card = element.closest('.card, .known')?.getBoundingClientRect() ?? { left: 0, right: width };
      return left < card.left - 1 || right > card.right + 1 || isClipped;
    })
    .map((element) => element.outerHTML.slice(0, 120));
})()`;

test.each(['en', 'ar'] as const)(
  'on phones of 360 and 390 px nothing is cut off, leaves its card or scrolls sideways on any page, in language %s',
  async (language) => {
    const addresses = await everyAddress(world);
    const page = await browser.open({ language, viewport: 'phone' });
    await world.signIn(page, 'ops');
    await waitForText(page.locator('#open-tasks'), /[1-9]/);
    const found: object[] = [];
    for (const address of addresses) {
      await page.goto(world.at(address));
      for (const phone of PHONES) {
        await page.setViewportSize(phone);
        const cutOff = await page.evaluate(CUT_OFF);
        if (!Array.isArray(cutOff) || cutOff.length > 0) found.push({ address, width: phone.width, cutOff });
      }
    }
    expect(found).toEqual([]);
  },
);
