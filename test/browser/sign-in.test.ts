import type { Page } from 'playwright-core';
import { z } from 'zod';
import { wordsOf } from '../../src/console/words';
import { apiKeyView } from '../../src/contracts/operator';
import { expectAccessible, focused, useBrowser, waitForPath, waitForText } from '../support/browser';
import { eventually } from '../support/eventually';
import { useConsole } from './world';

const browser = useBrowser();
const world = useConsole();

const keyField = (page: Page) => page.getByLabel('API key');
const submit = (page: Page) => page.getByRole('button', { name: 'Sign in' });
const open = async (page: Page) => void (await page.goto(world.at('/sign-in')));
const cookieNames = async (page: Page) => (await page.context().cookies()).map(({ name }) => name);

/** Enters a key that no key of ours is, and waits for the answer. */
async function enterWrongKey(page: Page, language: 'en' | 'ar' = 'en'): Promise<void> {
  const { signIn } = wordsOf(language);
  browser.announce(page, { path: '/sign-in', status: 401 });
  await page.getByLabel(signIn.key).fill('no-key-of-ours');
  await page.getByRole('button', { name: signIn.submit }).click();
  await page.getByRole('alert').waitFor();
}

test('who has a key signs in with it and comes to the board', async () => {
  const page = await browser.open();
  await world.signIn(page, 'dispatcher');
  await waitForText(page.locator('header'), 'dispatcher');
});

test('who was on the way to a page comes to it after signing in', async () => {
  const page = await browser.open();
  await page.goto(world.at('/board?state=started'));
  await waitForPath(page, '/sign-in');
  await keyField(page).fill(await world.keyOf('viewer'));
  await submit(page).click();
  await waitForPath(page, '/board?state=started');
});

test('nobody is led to another address by signing in', async () => {
  const page = await browser.open();
  await page.goto(world.at(`/sign-in?next=${encodeURIComponent('//example.com/')}`));
  await keyField(page).fill(await world.keyOf('viewer'));
  await submit(page).click();
  await waitForPath(page, '/board');
});

test('a wrong key is answered with the rule, and nothing of it is kept', async () => {
  const page = await browser.open();
  await open(page);
  await enterWrongKey(page);
  await waitForText(page.getByRole('alert'), 'This is not a valid API key.');
  expect(await keyField(page).inputValue()).toBe('');
  expect(await keyField(page).getAttribute('aria-invalid')).toBe('true');
  expect(await page.content()).not.toContain('no-key-of-ours');
  expect(page.url()).not.toContain('no-key-of-ours');
  expect(await cookieNames(page)).not.toContain('towhook_session');
});

test('the session is a cookie that no script reads and no other site sends', async () => {
  const page = await browser.open();
  await world.signIn(page, 'crew');
  const session = (await page.context().cookies()).find(({ name }) => name === 'towhook_session');
  expect(session).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' });
  expect(session?.value).not.toContain(await world.keyOf('crew'));
});

test('who signs out is out, and the pages are closed again', async () => {
  const page = await browser.open();
  await world.signIn(page, 'crew');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await waitForPath(page, '/sign-in');
  expect(await cookieNames(page)).not.toContain('towhook_session');
  await page.goto(world.at('/board'));
  await waitForPath(page, '/sign-in');
});

test('a session ends when its key is revoked', async () => {
  const page = await browser.open();
  await world.signIn(page, 'viewer');
  const { items } = z.object({ items: z.array(apiKeyView) }).parse(await (await world.call('GET', '/keys')).json());
  const key = items.find(({ name }) => name === 'viewer');
  expect((await world.call('DELETE', `/keys/${key?.id}`)).status).toBe(204);
  await page.goto(world.at('/board'));
  await waitForPath(page, '/sign-in');
});

test('the language is switched where one is, and stays', async () => {
  const page = await browser.open();
  await open(page);
  expect(await page.locator('html').getAttribute('dir')).toBe('ltr');
  await page.getByRole('button', { name: 'العربية' }).click();
  await waitForText(page.getByRole('heading', { level: 1 }), wordsOf('ar').signIn.title);
  expect(new URL(page.url()).pathname).toBe('/sign-in');
  await open(page);
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
  expect(await page.locator('html').getAttribute('lang')).toBe('ar');
});

test('whose browser asks for Arabic is met in Arabic', async () => {
  const page = await browser.open({ language: 'ar' });
  await open(page);
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
});

test('the theme is that of the device until another is chosen', async () => {
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

test('without JavaScript one signs in, switches the language, and signs out', async () => {
  const page = await browser.open({ javaScript: false });
  await open(page);
  await enterWrongKey(page);
  await world.signIn(page, 'ops');
  await page.getByRole('button', { name: 'العربية' }).click();
  await waitForPath(page, '/board');
  await page.getByRole('button', { name: wordsOf('ar').common.signOut }).click();
  await waitForPath(page, '/sign-in');
});

test('the keyboard alone is enough', async () => {
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

describe.each(['en', 'ar'] as const)('in %s', (language) => {
  describe.each(['light', 'dark'] as const)('and %s', (theme) => {
    test.each(['desk', 'phone'] as const)('the page is accessible on a %s, also with a refusal', async (viewport) => {
      const page = await browser.open({ language, theme, viewport });
      await open(page);
      await expectAccessible(page);
      await enterWrongKey(page, language);
      await expectAccessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    });
  });
});

/** Of what is seen first: the page itself, as the browser paints it. */
function backgroundOf(page: Page): Promise<unknown> {
  return page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
}
