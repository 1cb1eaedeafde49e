import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { DemoEnvironment } from '../../src/demo/environment';
import { screenshot, type TestBrowser } from '../support/browser';
import { pagesOf, type Picture } from './pages';
import type { Scene } from './scene';

export interface Sitting {
  readonly browser: TestBrowser;
  readonly stage: DemoEnvironment;
  readonly scene: Scene;
  readonly folder: string;
  /** Names of the pages to take; null for all. */
  readonly only: readonly string[] | null;
  readonly show: (line: string) => void;
}

const LANGUAGES = ['en', 'ar'] as const;
const THEMES = ['light', 'dark'] as const;

/** Takes every picture, each visitor once: language and theme are those of the visitor's device. Returns how many. */
export async function photograph(sitting: Sitting): Promise<number> {
  const { browser, scene, only, show } = sitting;
  const wanted = pagesOf(scene).filter(({ name }) => only === null || only.includes(name));
  let count = 0;
  for (const viewport of ['desk', 'phone'] as const) {
    const pictures = wanted.filter((picture) => picture.viewport === viewport);
    for (const language of LANGUAGES) {
      for (const theme of THEMES) {
        const page = await browser.open({ language, theme, viewport });
        await signIn(page, sitting.stage);
        for (const picture of pictures) {
          await take(page, picture, { sitting, name: `${picture.name}.${language}.${theme}.webp` });
          count += 1;
        }
        await page.context().close();
        show(`${viewport}, ${language}, ${theme}: ${pictures.length} pictures`);
      }
    }
  }
  return count;
}

async function signIn(page: Page, { consoleUrl, apiKey }: DemoEnvironment): Promise<void> {
  await page.goto(`${consoleUrl}/sign-in`);
  await page.locator('input[name=key]').fill(apiKey);
  await page.locator('form[action="/sign-in"] button[type=submit]').click();
  await page.waitForURL(`${consoleUrl}/board`);
}

async function take(
  page: Page,
  picture: Picture,
  { sitting, name }: { sitting: Sitting; name: string },
): Promise<void> {
  // The page that signs in is seen by those who have not.
  if (picture.name === 'sign-in') await page.context().clearCookies();
  await page.goto(`${sitting.stage.consoleUrl}${picture.path}`);
  if (picture.until !== undefined) await page.locator(picture.until).first().waitFor();
  await screenshot(page, join(sitting.folder, name), picture.extent ?? 'window');
}
