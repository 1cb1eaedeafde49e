import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Page } from 'playwright-core';

/** Text stays sharp, and the pictures of all pages together stay below 3 MB. */
const WEBP_QUALITY = 42;

/**
 * Saves a screenshot of a page after its fonts have loaded, with animations ended and without the text cursor: a WebP
 * picture for a name that ends in `.webp`, else a PNG. `whole`: the full height of the page instead of the window.
 */
export async function screenshot(page: Page, file: string, extent: 'window' | 'whole' = 'window'): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await page.waitForLoadState('load');
  await page.evaluate('document.fonts.ready.then(() => true)');
  const isWhole = extent === 'whole';
  if (file.endsWith('.webp')) await writeFile(file, await webpOf(page, isWhole));
  else await page.screenshot({ path: file, animations: 'disabled', caret: 'hide', fullPage: isWhole });
}

/** Playwright writes PNG and JPEG only; the browser itself also encodes WebP. */
async function webpOf(page: Page, isWhole: boolean): Promise<Buffer> {
  await page.evaluate("document.documentElement.style.caretColor = 'transparent'");
  const session = await page.context().newCDPSession(page);
  try {
    const { cssContentSize } = await session.send('Page.getLayoutMetrics');
    const clip = { x: 0, y: 0, width: cssContentSize.width, height: cssContentSize.height, scale: 1 };
    const { data } = await session.send('Page.captureScreenshot', {
      format: 'webp',
      quality: WEBP_QUALITY,
      captureBeyondViewport: isWhole,
      ...(isWhole ? { clip } : {}),
    });
    return Buffer.from(data, 'base64');
  } finally {
    await session.detach();
  }
}
