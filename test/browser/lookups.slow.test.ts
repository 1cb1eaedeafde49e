import type { Page } from 'playwright-core';
import { messagesIn } from '../../src/console/messages';
import { expectAccessible, useBrowser, waitForPath, waitForText } from '../support/browser';
import { eventually } from '../support/eventually';
import { useConsole } from './world';

const ZONE = '7b0c9d1e-3f52-4a68-9b7d-2c4e6f8a0b1c';

const browser = useBrowser();
const world = useConsole();

async function askTicket(page: Page, language: 'en' | 'ar', plate: string): Promise<void> {
  const { terms, violationForm, violations } = messagesIn(language);
  const form = page.getByRole('region', { name: violations.sections.ticket });
  await form.getByLabel(violationForm.fields.plateNumber).fill(plate);
  await form.getByLabel(violationForm.fields.plateType).selectOption('PRIVATE');
  await form.getByLabel(terms.zone, { exact: true }).fill(ZONE);
  await form.getByRole('button').click();
}

test.each([
  ['en', 'desk', 'light'],
  ['ar', 'phone', 'dark'],
] as const)('a crew looks up free slots and a ticket in %s on a %s, %s', async (language, viewport, theme) => {
  const { lookups, taskTypes, terms } = messagesIn(language);
  const page = await browser.open({ language, viewport, theme });
  await world.signIn(page, 'crew', '/lookups');
  await expectAccessible(page);
  const zones = page.getByRole('region', { name: lookups.capacity.title });
  await zones.getByLabel(terms.zone).fill(ZONE);
  await zones.getByRole('button').click();
  await waitForPath(page, `/lookups?zone_id=${ZONE}`);
  await waitForText(page.locator('.lookup-answer'), new RegExp(`${lookups.capacity.slots} \\d+`));
  await expectAccessible(page);
  await askTicket(page, language, 'ABJ 1234');
  await waitForText(page.locator('.lookup-answer'), taskTypes.types.active_ticket.title);
  await expectAccessible(page);
});

test('a lookup that the service refuses or throttles shows the reason and when to try again', async () => {
  const page = await browser.open();
  await world.signIn(page, 'viewer', '/lookups');
  await world.refuseOnce('capacity');
  browser.announce(page, { path: '/lookups', status: 422 });
  await page.goto(world.at(`/lookups?zone_id=${ZONE}`));
  await waitForText(page.getByRole('alert'), 'Its message: Missing required field');
  await expectAccessible(page);
  await world.setFaults([{ operation: 'capacity', fault: '429', times: 1, ms: 42_000 }]);
  browser.announce(page, { path: '/lookups', status: 503 });
  await page.goto(world.at(`/lookups?zone_id=${ZONE}`));
  const time = page.getByRole('alert').locator('time');
  await waitForText(time, /^Try again in \d+ s$/);
  const shown = await time.innerText();
  // The script of the page counts down.
  await eventually(async () => expect(await time.innerText()).not.toBe(shown));
  expect(await time.innerText()).toMatch(/^Try again in \d+ s$/);
  await expectAccessible(page);
});

test.each(['en', 'ar'] as const)(
  'the time until a lookup can be tried again ends with a whole sentence in the language %s',
  async (language) => {
    const { again } = messagesIn(language).lookups;
    const page = await browser.open({ language });
    await world.signIn(page, 'viewer', '/lookups');
    await world.setFaults([{ operation: 'capacity', fault: '429', times: 1, ms: 30_000 }]);
    browser.announce(page, { path: '/lookups', status: 503 });
    await page.clock.install();
    await page.goto(world.at(`/lookups?zone_id=${ZONE}`));
    const time = page.getByRole('alert').locator('time');
    await waitForText(time, again.in({ time: '' }).trim());
    // The countdown starts with its first second.
    await page.clock.runFor(31_000);
    await waitForText(time, again.now);
  },
);
