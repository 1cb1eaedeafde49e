import type { Locator, Page } from 'playwright-core';
import { eventually } from '../eventually';

/** Waits for visible states. Each function fails at the limit of `eventually` with the state that it found. */

/**
 * Waits until the page is at this path (with its query, if `path` has one) and has loaded. It cannot be used to wait for
 * a navigation to the same path.
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

/** Waits until the visible text of the first of these elements contains or matches `text`. */
export async function waitForText(locator: Locator, text: string | RegExp): Promise<void> {
  await eventually(async () => {
    const shown = (await locator.first().innerText({ timeout: 1000 })).trim();
    if (typeof text === 'string') expect(shown).toContain(text);
    else expect(shown).toMatch(text);
  });
}

/** Waits until the page has exactly `count` of these elements. */
export async function waitForCount(locator: Locator, count: number): Promise<void> {
  await eventually(async () => expect(await locator.count()).toBe(count));
}

/** Waits until none of these elements is visible. */
export async function waitUntilGone(locator: Locator): Promise<void> {
  await eventually(async () => expect(await locator.filter({ visible: true }).count()).toBe(0));
}

/** The element that has the keyboard focus. */
export function focused(page: Page): Locator {
  return page.locator(':focus');
}
