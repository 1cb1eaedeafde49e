import type { Page } from 'playwright-core';
import { messagesIn } from '../../src/console/messages';
import { expectAccessible, useBrowser, waitForCount, waitForPath, waitForText } from '../support/browser';
import { startElsewhere } from '../support/run-worker';
import { useConsole } from './world';

const browser = useBrowser({ fastTimers: true });
const world = useConsole();
const { runs: messages } = messagesIn('en');

async function refusedTows(count: number): Promise<readonly string[]> {
  const refs = await world.orderTows(count);
  await world.setFaults([{ operation: 'started', fault: '400', times: count }]);
  for (const ref of refs) {
    await world.record(ref, 'started');
    await world.towWhen(ref, (tow) => tow.reports[0]?.state === 'refused');
  }
  return refs;
}

/** Opens the preview of a bulk action on all tasks of the page; returns the id of the run. */
async function preview(page: Page, action: 'retry' | 'waive', language: 'en' | 'ar' = 'en'): Promise<string> {
  const { runs: bulk } = messagesIn(language);
  await page.locator('.tasks-bulk summary').click();
  await page.locator('input[name=scope][value=page]').check();
  await page.getByLabel(bulk.action).selectOption(action);
  if (action === 'waive') await page.locator('#bulk-reason').fill('they have left');
  await page.getByRole('button', { name: bulk.states.previewed }).click();
  await waitForPath(page, /^\/runs\/[^/]+$/);
  return new URL(page.url()).pathname.split('/').at(-1) ?? '';
}

test('the numbers of the bulk bar follow a decision of another person', async () => {
  const { scopes, chosen, chooseAll } = messages;
  const [ref = ''] = await refusedTows(2);
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', '/tasks?type=report_refused');
  await page.locator('.tasks-bulk summary').click();
  await page.getByLabel(chooseAll).check();
  await waitForText(page.locator('[data-chosen-count]'), chosen({ count: '2' }));
  const { reports } = await world.tow(ref);
  await world.call('POST', `/tows/${ref}/reports/${reports[0]?.id}/waive`, { reason: 'reported by telephone' });

  await waitForText(page.locator('[data-chosen-count]'), chosen({ count: '1' }));
  await waitForText(page.locator('.tasks-scopes'), scopes.page({ count: 1 }));
  await waitForText(page.locator('.tasks-scopes'), scopes.filter({ count: 1 }));
  expect(await page.getByLabel(chooseAll).isChecked()).toBe(true);
});

test('a dispatcher selects reports, previews the bulk retry, starts it, and sees the result of each report', async () => {
  const refs = await refusedTows(3);
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', '/tasks?type=report_refused');
  await page.getByLabel(messages.chooseAll).check();
  await waitForText(page.locator('[data-chosen-count]'), '3 selected');
  await page.locator('.tasks-item input[name=chosen]').first().uncheck();
  await waitForText(page.locator('[data-chosen-count]'), '2 selected');
  await page.locator('.tasks-bulk summary').click();
  await page.getByRole('button', { name: messages.states.previewed }).click();

  await waitForText(page.getByRole('heading', { level: 1 }), 'Send again: 2 tasks');
  await waitForText(page.locator('#run-state'), messages.nothingYet);
  await waitForCount(page.getByText(messages.canBe, { exact: true }), 2);
  expect((await world.tow(refs[1] ?? '')).reports[0]?.state).toBe('refused');
  await expectAccessible(page);

  await page.getByRole('button', { name: messages.start({ count: 2 }) }).click();
  await waitForText(page.locator('#run-state'), messages.about.done);
  await waitForText(page.locator('.run-progress'), '2 of 2');
  await waitForCount(page.locator('.run-items li').filter({ hasText: messages.outcomes.done }), 2);
  await waitForText(page.locator('#open-tasks'), '1');
  await expectAccessible(page);
  for (const ref of refs.slice(1)) await world.towWhen(ref, (tow) => tow.reports[0]?.state === 'accepted');
  expect((await world.tow(refs[0] ?? '')).reports[0]?.state).toBe('refused');
});

test('the page of a run shows the progress made by another process without a reload, and aborts the run', async () => {
  const refs = await refusedTows(2);
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', '/tasks');
  const id = await preview(page, 'waive');
  await startElsewhere(world.app.foundation, id);
  await page.reload();
  await waitForText(page.locator('.run-progress'), '0 of 2');
  await page.getByRole('button', { name: messages.abort }).focus();
  await startElsewhere(world.app.foundation, id, 1);
  await waitForText(page.locator('.run-progress'), '1 of 2');
  expect(await page.locator('progress').getAttribute('aria-valuetext')).toBe('1 of 2');
  await expectAccessible(page);
  await startElsewhere(world.app.foundation, id);

  // The button keeps the focus through the refreshes.
  await page.keyboard.press('Enter');
  await waitForText(page.locator('#run-state'), messages.about.aborted);
  await waitForCount(page.locator('.run-items li').filter({ hasText: messages.outcomes.skipped }), 2);
  expect((await world.tow(refs[0] ?? '')).reports[0]?.state).toBe('refused');
  await expectAccessible(page);
});

test('without JavaScript the link to the bulk decision opens its form and keeps the ticks', async () => {
  await refusedTows(1);
  const page = await browser.open({ javaScript: false });
  await world.signIn(page, 'dispatcher', '/tasks');
  await page.locator('input[name=chosen]').check();
  expect(await page.getByLabel(messages.action).isVisible()).toBe(false);
  await page.getByRole('link', { name: messages.several }).click();
  await page.getByLabel(messages.action).waitFor({ state: 'visible' });
  expect(await page.locator('input[name=chosen]').isChecked()).toBe(true);
});

test('a run is previewed, started and finished without JavaScript on a phone in Arabic', async () => {
  const ar = messagesIn('ar').runs;
  const refs = await refusedTows(2);
  const page = await browser.open({ javaScript: false, language: 'ar', viewport: 'phone' });
  await world.signIn(page, 'dispatcher', '/tasks?kind=started');
  const id = await preview(page, 'waive', 'ar');
  await waitForText(page.locator('#run-state'), ar.nothingYet);
  await page.getByRole('button', { name: ar.start({ count: 2 }) }).click();
  for (const ref of refs) await world.towWhen(ref, (tow) => tow.reports[0]?.state === 'waived');
  await page.goto(world.at(`/runs/${id}`));
  await waitForText(page.locator('#run-state'), ar.about.done);
});

test.each(['en', 'ar'] as const)(
  'the list of runs, a preview and a refused selection are accessible and fit the window in %s',
  async (language) => {
    const { runs: bulk } = messagesIn(language);
    await refusedTows(1);
    const page = await browser.open({ language, viewport: 'phone', theme: 'dark' });
    await world.signIn(page, 'dispatcher', '/tasks');
    await page.locator('.tasks-bulk summary').click();
    browser.announce(page, { path: '/tasks', status: 422 });
    await page.getByRole('button', { name: bulk.states.previewed }).click();
    await page.getByRole('alert').waitFor();
    await expectFits(page);
    await page.goto(world.at('/tasks'));
    await preview(page, 'retry', language);
    await expectFits(page);
    await page.goto(world.at('/runs'));
    await waitForText(page.locator('.run-items'), bulk.states.previewed);
    await expectFits(page);
  },
);

async function expectFits(page: Page): Promise<void> {
  await expectAccessible(page);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
}
