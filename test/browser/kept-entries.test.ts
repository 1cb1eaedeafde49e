import type { Page } from 'playwright-core';
import { messagesIn } from '../../src/console/messages';
import { focused, useBrowser, waitForPath, waitForText, waitUntilGone } from '../support/browser';
import { eventually } from '../support/eventually';
import { useConsole } from './world';

const browser = useBrowser({ fastTimers: true });
const world = useConsole();
const { common, tasks, terms, tow, towDispatch, towFacts } = messagesIn('en');

const plateOf = (page: Page) => page.locator('#fact-started-plate_number');
const noteOf = (page: Page) => page.locator('#note-text');
const stored = async (page: Page): Promise<string> => String(await page.evaluate('JSON.stringify(sessionStorage)'));

/** Opens the page of a tow with a half-filled start and a half-written note. */
async function openHalfFilled(ref: string): Promise<Page> {
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', `/tows/${ref}`);
  await plateOf(page).fill('KLZ 77');
  await page.locator('#live-note summary').click();
  await noteOf(page).fill('half a sen');
  return page;
}

async function expectKept(page: Page): Promise<void> {
  await eventually(async () => expect(await plateOf(page).inputValue()).toBe('KLZ 77'));
  expect(await noteOf(page).inputValue()).toBe('half a sen');
  expect(await noteOf(page).isVisible()).toBe(true);
}

test('the tow page keeps unsent entries when another form is sent, the language changes or the page is loaded again', async () => {
  const ref = await world.orderTow();
  const page = await openHalfFilled(ref);
  await page.getByRole('button', { name: towDispatch.stepNames.en_route }).click();
  await waitForText(page.locator('.notice'), common.done.saved);
  await expectKept(page);

  await page.getByRole('button', { name: common.otherLanguage }).click();
  await page.locator('html[lang=ar]').waitFor();
  await expectKept(page);
  await page.getByRole('button', { name: messagesIn('ar').common.otherLanguage }).click();
  await page.locator('html[lang=en]').waitFor();
  await expectKept(page);

  await world.record(ref, 'canceled', { cancellation_reason: 'Gone on arrival' });
  const stale = page.locator('#live-facts [data-stale]');
  await waitForText(stale, tow.changed);
  await stale.getByRole('link').click();
  await plateOf(page).waitFor({ state: 'detached' });
  expect(await noteOf(page).inputValue()).toBe('half a sen');

  await page.locator('#live-note button[type=submit]').click();
  await waitForText(page.locator('.notice'), common.done.saved);
  expect(await noteOf(page).inputValue()).toBe('');
  expect(await stored(page)).not.toContain('half a sen');
});

test('the task list keeps a reason that was typed when another task is decided', async () => {
  const [first = '', second = ''] = await world.orderTows(2);
  await world.setFaults([{ operation: 'started', fault: '400', times: 2 }]);
  for (const ref of [first, second]) {
    await world.record(ref, 'started');
    await world.towWhen(ref, ({ reports }) => reports[0]?.state === 'refused');
  }
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', '/tasks');
  const rowOf = (ref: string) => page.locator('.tasks-item').filter({ hasText: ref });
  await rowOf(second).locator('summary').filter({ hasText: terms.actions.waive }).click();
  const reason = rowOf(second).getByLabel(tasks.reason).and(page.locator('[id^=waive]'));
  await reason.fill('half a sen');
  await rowOf(first).getByRole('button', { name: terms.actions.retry }).click();
  await waitForText(page.locator('.notice'), /./);
  expect(await reason.inputValue()).toBe('half a sen');
  expect(await reason.isVisible()).toBe(true);
});

test('a refused form of the tow page stays open while another form of its group has unsent entries', async () => {
  const ref = await world.orderTow();
  await world.record(ref, 'started');
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', `/tows/${ref}`);
  const unfold = (label: string) => page.locator('#live-facts summary').filter({ hasText: label }).click();
  await unfold(towFacts.record.invoice);
  await unfold(towFacts.otherDays);
  const days = page.locator('#fact-invoice-delay_in_days');
  await days.fill('2');

  await unfold(towFacts.record.canceled);
  const canceled = page.locator('#form-canceled');
  await canceled.getByLabel(towFacts.fields.cancellation_reason).selectOption({ index: 1 });
  await canceled.locator('summary').filter({ hasText: towFacts.otherTime }).click();
  await page.locator('#fact-canceled-occurred_at').fill('2001-01-01T00:00');
  browser.announce(page, { path: `/tows/${ref}/canceled`, status: 422 });
  await canceled.getByRole('button', { name: towFacts.record.canceled }).click();
  await eventually(async () => expect(await days.inputValue()).toBe('2'));
  await waitForText(focused(page), common.problem);
  expect(await canceled.getByRole('alert').isVisible()).toBe(true);
  expect(await days.isVisible()).toBe(false);
});

test('a refused decision of the task list stays open while another decision of the task has unsent entries', async () => {
  const ref = await world.orderTow();
  await world.setFaults([{ operation: 'started', fault: '400', times: 1 }]);
  await world.record(ref, 'started');
  await world.towWhen(ref, ({ reports }) => reports[0]?.state === 'refused');
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', '/tasks');
  const unfold = (label: string) => page.locator('.tasks-item summary').filter({ hasText: label }).click();
  await unfold(terms.actions.correct);
  const plate = page.locator('[id^=correct][id$=plate_number]');
  await plate.fill('KLZ 77');

  await unfold(terms.actions.waive);
  await page.locator('textarea[id^=waive], input[id^=waive]').fill('   ');
  browser.announce(page, { path: '/tasks', status: 422 });
  await page.getByRole('button', { name: terms.actions.waive }).click();
  await eventually(async () => expect(await plate.inputValue()).toBe('KLZ 77'));
  await waitForText(focused(page), common.problem);
  expect(await page.locator('.tasks-item .problem').isVisible()).toBe(true);
  expect(await plate.isVisible()).toBe(false);
});

test('a form that did not reach the console has its entries again when the user goes back', async () => {
  const page = await openHalfFilled(await world.orderTow());
  browser.announce(page, { path: /\/notes$/, status: 'no answer' });
  await page.route('**/notes', (route) => route.abort('connectionrefused'));
  await page.locator('#live-note button[type=submit]').click();
  await page.waitForURL('chrome-error://**');
  await page.unroute('**/notes');
  await page.goBack();
  await expectKept(page);
});

test('a form that is sent without a network keeps the page and says that it was not sent', async () => {
  const page = await openHalfFilled(await world.orderTow());
  await page.context().setOffline(true);
  const send = page.locator('#live-note button[type=submit]');
  await send.click();
  const alert = page.locator('#live-note').getByRole('alert');
  await waitForText(alert, common.notSent);
  await expectKept(page);
  await page.context().setOffline(false);
  await send.click();
  await waitForText(page.locator('.notice'), common.done.saved);
  await waitUntilGone(alert);
});

test('signing out removes the unsent entries, and an API key is never kept', async () => {
  const ref = await world.orderTow();
  const page = await openHalfFilled(ref);
  expect(await stored(page)).toContain('half a sen');
  await page.getByRole('button', { name: common.signOut }).click();
  await waitForPath(page, '/sign-in');
  await page.locator('input[name=key]').fill('thk_typed');
  expect(await stored(page)).not.toMatch(/half a sen|KLZ 77|thk_typed/);
  await world.signIn(page, 'dispatcher', `/tows/${ref}`);
  await waitForText(page.locator('#tow-head'), ref);
  expect(await plateOf(page).inputValue()).toBe('');
});

test('the entries of a session that has ended are removed on the sign-in page and in the next session', async () => {
  const ref = await world.orderTow();
  const page = await openHalfFilled(ref);
  // Signs in again, as in another tab.
  await world.signIn(page, 'crew', `/tows/${ref}`);
  await waitForText(page.locator('#tow-head'), ref);
  expect(await stored(page)).not.toContain('half a sen');

  await plateOf(page).fill('KLZ 78');
  await page.context().clearCookies();
  await page.goto(world.at(`/tows/${ref}`));
  await waitForPath(page, '/sign-in');
  expect(await stored(page)).not.toContain('KLZ 78');
});
