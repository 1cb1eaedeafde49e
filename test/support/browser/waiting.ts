import type { Locator, Page } from 'playwright-core';
import { eventually } from '../eventually';

/** Waiting for what is to be seen, without a pause that is too long or too short. Each fails after 10 s with what is there. */

/**
 * Waits until the page is at this path (with its query, if it has one) and has loaded. What leads back to the same path
 * needs something else to wait for.
 */
export async function waitForPath(page: Page, path: string | RegExp): Promise<void> {
  await eventually(() => {
    const { pathname, search } = new URL(page.url());
    const at = typeof path === 'string' && !path.includes('?') ? pathname : `${pathname}${search}`;
    if (typeof path === 'string') expect(at).toBe(path);
    else expect(at).toMatch(path);
  });
  await page.waitForLoadState('load');
}

/** Waits until the first of these elements shows this text, as read by a person. */
export async function waitForText(locator: Locator, text: string | RegExp): Promise<void> {
  await eventually(async () => {
    const shown = (await locator.first().innerText({ timeout: 1000 })).trim();
    if (typeof text === 'string') expect(shown).toContain(text);
    else expect(shown).toMatch(text);
  });
}

/** Waits until so many of these elements are there. */
export async function waitForCount(locator: Locator, count: number): Promise<void> {
  await eventually(async () => expect(await locator.count()).toBe(count));
}

/** Waits until none of these elements can be seen. */
export async function waitUntilGone(locator: Locator): Promise<void> {
  await eventually(async () => expect(await locator.filter({ visible: true }).count()).toBe(0));
}

/** The element that has the keyboard. */
export function focused(page: Page): Locator {
  return page.locator(':focus');
}
