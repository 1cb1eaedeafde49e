import type { Page } from 'playwright-core';
import { messagesIn } from '../../src/console/messages';
import { expectAccessible, focused, useBrowser, waitForPath, waitForText } from '../support/browser';
import { eventually } from '../support/eventually';
import { useConsole } from './world';

const browser = useBrowser();
const world = useConsole();

const keyField = (page: Page) => page.getByLabel('API key');
const open = async (page: Page) => void (await page.goto(world.at('/sign-in')));
const cookieNames = async (page: Page) => (await page.context().cookies()).map(({ name }) => name);

/** Enters an unknown API key and waits for the refusal. */
async function enterWrongKey(page: Page, language: 'en' | 'ar' = 'en'): Promise<void> {
  const { signIn } = messagesIn(language);
  browser.announce(page, { path: '/sign-in', status: 401 });
  await page.getByLabel(signIn.key).fill('no-key-of-ours');
  await page.getByRole('button', { name: signIn.title }).click();
  await page.getByRole('alert').waitFor();
}

test('signing in with an API key opens the board', async () => {
  const page = await browser.open();
  await world.signInByForm(page, 'dispatcher');
  await waitForText(page.locator('header'), 'dispatcher');
});

test('a wrong API key is refused with a message and is not kept in the page, the address or a cookie', async () => {
  const page = await browser.open();
  await open(page);
  await enterWrongKey(page);
  await waitForText(page.getByRole('alert'), 'This API key is not valid.');
  expect(await keyField(page).inputValue()).toBe('');
  expect(await keyField(page).getAttribute('aria-invalid')).toBe('true');
  expect(await page.content()).not.toContain('no-key-of-ours');
  expect(page.url()).not.toContain('no-key-of-ours');
  expect(await cookieNames(page)).not.toContain('towhook_session');
});

test('the language switch of the sign-in page stays on the page and is remembered', async () => {
  const page = await browser.open();
  await open(page);
  expect(await page.locator('html').getAttribute('dir')).toBe('ltr');
  await page.getByRole('button', { name: 'العربية' }).click();
  await waitForText(page.getByRole('heading', { level: 1 }), messagesIn('ar').signIn.title);
  expect(new URL(page.url()).pathname).toBe('/sign-in');
  await open(page);
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
  expect(await page.locator('html').getAttribute('lang')).toBe('ar');
});

test('the sign-in page uses the theme of the device until the user chooses another one', async () => {
  const page = await browser.open({ theme: 'dark' });
  await open(page);
  const dark = await backgroundOf(page);
  await page.getByLabel('Theme').click();
  await page.getByRole('button', { name: 'Light' }).click();
  const light = await eventually(async () => {
    const seen = await backgroundOf(page);
    expect(seen).not.toBe(dark);
    return seen;
  });

  const other = await browser.open({ theme: 'light' });
  await open(other);
  expect(await backgroundOf(other)).toBe(light);
});

test('signing in, switching the language and signing out work without JavaScript', async () => {
  const page = await browser.open({ javaScript: false });
  await open(page);
  await enterWrongKey(page);
  await world.signInByForm(page, 'ops');
  await page.getByRole('button', { name: 'العربية' }).click();
  await waitForPath(page, '/board');
  await page.getByRole('button', { name: messagesIn('ar').common.signOut }).click();
  await waitForPath(page, '/sign-in');
});

test('signing in works with the keyboard alone', async () => {
  const page = await browser.open();
  await open(page);
  const seen: string[] = [];
  for (let press = 0; press < 20 && seen.at(-1) !== 'key'; press += 1) {
    await page.keyboard.press('Tab');
    seen.push((await focused(page).getAttribute('name')) ?? (await focused(page).innerText()));
  }
  expect(seen[0]).toBe('Skip to the content');
  expect(seen.at(-1)).toBe('key');
  await page.keyboard.type(await world.keyOf('crew'));
  await page.keyboard.press('Enter');
  await waitForPath(page, '/board');
});

const LOOKS = (['en', 'ar'] as const).flatMap((language) =>
  (['light', 'dark'] as const).flatMap((theme) =>
    (['desk', 'phone'] as const).map((viewport) => [language, theme, viewport] as const),
  ),
);

test.each(LOOKS)(
  'the sign-in page is accessible and fits the window in %s, %s, on a %s, also after a refusal',
  async (language, theme, viewport) => {
    const page = await browser.open({ language, theme, viewport });
    await open(page);
    await expectAccessible(page);
    await enterWrongKey(page, language);
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  },
);

/** The computed background colour of the whole page. */
function backgroundOf(page: Page): Promise<unknown> {
  return page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
}
