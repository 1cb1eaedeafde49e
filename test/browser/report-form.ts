import type { Page } from 'playwright-core';
import { REQUIRED } from '../operator/forms';

/** Fills in the required fields of the page on which a violation is reported. */
export async function fillReport(page: Page): Promise<void> {
  for (const [name, value] of Object.entries(REQUIRED)) {
    const field = page.locator(`#report-${name}`);
    if (name.endsWith('Type')) await field.selectOption(value);
    else await field.fill(value);
  }
}
