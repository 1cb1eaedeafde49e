import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Page } from 'playwright-core';

/**
 * Saves a screenshot of a page after its fonts have loaded, with animations ended and without the text cursor. `whole`:
 * the full height of the page instead of the window.
 */
export async function screenshot(page: Page, file: string, extent: 'window' | 'whole' = 'window'): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await page.waitForLoadState('load');
  await page.evaluate('document.fonts.ready.then(() => true)');
  await page.screenshot({ path: file, animations: 'disabled', caret: 'hide', fullPage: extent === 'whole' });
}
