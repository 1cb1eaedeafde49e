import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Page } from 'playwright-core';

/**
 * Takes a picture of a page, the same each time as far as its text is: fonts are there, nothing moves, no caret blinks.
 * `whole`: as long as the page is, and not only what fits the window.
 */
export async function screenshot(page: Page, file: string, extent: 'window' | 'whole' = 'window'): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await page.waitForLoadState('load');
  await page.evaluate('document.fonts.ready.then(() => true)');
  await page.screenshot({ path: file, animations: 'disabled', caret: 'hide', fullPage: extent === 'whole' });
}
