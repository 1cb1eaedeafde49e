import type { Page } from 'playwright-core';
import { messagesIn } from '../../src/console/messages';
import { rivalRequestTask } from '../../src/domain/ops/tasks';
import { openGeneral, openOn, ONE_OF_EACH } from '../console/task-world';
import { expectAccessible, focused, useBrowser, waitForCount, waitForPath, waitForText } from '../support/browser';
import { eventually } from '../support/eventually';
import { useConsole } from './world';

const browser = useBrowser({ fastTimers: true });
const world = useConsole();
const { tasks, terms, common } = messagesIn('en');

/** Tows whose started report the service has refused, oldest first. */
async function refusedTows(count: number): Promise<readonly string[]> {
  const refs = await world.orderTows(count);
  await world.setFaults([{ operation: 'started', fault: '400', times: count }]);
  for (const ref of refs) {
    await world.record(ref, 'started');
    await world.towWhen(ref, (tow) => tow.reports[0]?.state === 'refused');
  }
  return refs;
}

const rowOf = (page: Page, ref: string) => page.locator('.tasks-item').filter({ hasText: ref });
const isAccepted = (ref: string) => world.towWhen(ref, (tow) => tow.reports[0]?.state === 'accepted');
const isWideEnough = (page: Page) => page.evaluate('document.documentElement.scrollWidth <= innerWidth');

test('a dispatcher corrects a refused report in the task list and the service accepts it', async () => {
  const [first = '', second = ''] = await refusedTows(2);
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', '/tasks?type=report_refused');
  await waitForText(page.locator('#open-tasks'), '2');
  const row = rowOf(page, first);
  await row.locator('summary').filter({ hasText: terms.actions.correct }).click();
  await row.getByLabel('Plate', { exact: true }).fill('RSX 4321');
  await row.getByRole('button', { name: terms.actions.correct }).click();

  await waitForText(page.getByRole('status').filter({ hasText: common.done.corrected }), common.done.corrected);
  await waitForPath(page, '/tasks?type=report_refused');
  await waitForCount(page.locator('.tasks-item'), 1);
  // The notice does not cover the filters.
  const [notice, filters] = [page.locator('.notice'), page.locator('.tasks-filters')];
  const filtersBox = await filters.boundingBox();
  expect((await notice.boundingBox())?.y).toBeGreaterThan((filtersBox?.y ?? 0) + (filtersBox?.height ?? 0));
  // The next task has the focus.
  await eventually(async () => expect(await focused(page).innerText()).toContain(second));
  await isAccepted(first);
  const calls = await world.callsOf('started');
  expect(calls.at(-1)?.body).toMatchObject({ towing_reference_id: first, plate_number: 'RSX 4321' });
});

test('the task list marks tasks that were decided elsewhere, announces new tasks, and keeps the text being typed', async () => {
  const [gone = '', kept = ''] = await refusedTows(2);
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', '/tasks');
  await rowOf(page, kept).locator('summary').filter({ hasText: terms.actions.waive }).click();
  const reason = rowOf(page, kept).getByLabel(common.reason).and(page.locator('[id^=waive]'));
  await reason.fill('half a sen');
  const top = await rowOf(page, kept).boundingBox();

  const reportId = (await world.tow(gone)).reports[0]?.id ?? '';
  await world.call('POST', `/tows/${encodeURIComponent(gone)}/reports/${reportId}/waive`, { reason: 'elsewhere' });
  await waitForText(rowOf(page, gone).getByRole('status'), tasks.gone);
  await waitForText(page.locator('.tasks-line'), tasks.open({ count: 1 }));
  for (const chip of [common.all, refusedChip]) {
    await waitForText(page.locator('.tasks-filters a').filter({ hasText: chip }).locator('.count'), '1');
  }
  await openOn(world.app, kept, rivalRequestTask);
  await waitForText(page.locator('#tasks-live'), tasks.fresh({ count: 1 }));
  expect(await rowOf(page, kept).locator('.tasks-gone').innerHTML()).toBe('');

  await waitForCount(page.locator('.tasks-item'), 2);
  expect(await reason.inputValue()).toBe('half a sen');
  expect(await focused(page).getAttribute('id')).toBe(await reason.getAttribute('id'));
  expect((await rowOf(page, kept).boundingBox())?.y).toBe(top?.y);
  await expectAccessible(page);
  await page.locator('#tasks-live a').click();
  await waitForCount(page.locator('.tasks-item'), 2);
  await waitForText(page.locator('.tasks-list'), rivalTitle('en'));
});

const refusedChip = messagesIn('en').taskTypes.types.report_refused.chip;
const rivalTitle = (language: 'en' | 'ar') => messagesIn(language).taskTypes.types.rival_request.title;

test('a task can be found and decided with the keyboard alone', async () => {
  const [ref = ''] = await refusedTows(1);
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', '/tasks');
  await page.keyboard.press('j');
  expect(await focused(page).innerText()).toContain(ref);
  await tabTo(page, terms.actions.accept);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.type('seen at the service');
  await tabTo(page, terms.actions.accept);
  await page.keyboard.press('Enter');
  await waitForText(
    page.getByRole('status').filter({ hasText: common.done.accepted_by_hand }),
    common.done.accepted_by_hand,
  );
  await waitForText(page.locator('main'), tasks.empty.title);
  await isAccepted(ref);
});

async function tabTo(page: Page, words: string): Promise<void> {
  for (let press = 0; press < 20; press += 1) {
    await page.keyboard.press('Tab');
    if ((await focused(page).innerText()).startsWith(words)) return;
  }
  throw new Error(`20 presses of Tab do not lead to ${words}`);
}

test('a task is waived by touch on a phone in Arabic', async () => {
  const ar = messagesIn('ar');
  const [ref = ''] = await refusedTows(1);
  const page = await browser.open({ language: 'ar', viewport: 'phone', theme: 'dark' });
  await world.signIn(page, 'dispatcher', '/tasks');
  await waitForText(
    rowOf(page, ref),
    ar.taskTypes.types.report_refused.title({ operation: ar.terms.operations.started }),
  );
  await rowOf(page, ref).locator('summary').filter({ hasText: ar.terms.actions.waive }).tap();
  await expectAccessible(page);
  expect(await isWideEnough(page)).toBe(true);
  await rowOf(page, ref).getByLabel(ar.common.reason).and(page.locator('[id^=waive]')).fill('غادرت المركبة');
  await rowOf(page, ref).getByRole('button', { name: ar.terms.actions.waive }).tap();
  await waitForText(page.locator('main'), ar.tasks.empty.title);
  expect(await world.tow(ref)).toMatchObject({ reports: [{ state: 'waived', reason: 'غادرت المركبة' }] });
});

test('the task list shows a refused correction and accepts the next one without JavaScript', async () => {
  const [ref = ''] = await refusedTows(1);
  const page = await browser.open({ javaScript: false });
  await world.signIn(page, 'dispatcher', '/tasks');
  const row = rowOf(page, ref);
  await row.locator('summary').filter({ hasText: terms.actions.correct }).click();
  await row.getByLabel('Latitude').fill('124.5');
  browser.announce(page, { path: '/tasks', status: 422 });
  await row.getByRole('button', { name: terms.actions.correct }).click();
  await waitForText(page.getByRole('alert'), common.problem);
  expect(await row.getByLabel('Latitude').inputValue()).toBe('124.5');
  await row.getByLabel('Latitude').fill('24.5');
  await row.getByRole('button', { name: terms.actions.correct }).click();
  await waitForText(page.locator('main'), common.done.corrected);
  expect((await isAccepted(ref)).latitude).toBe(24.5);
});

test.each(['en', 'ar'] as const)(
  'the task list with every type of task is accessible and fits the window in %s',
  async (language) => {
    for (const task of ONE_OF_EACH) await openGeneral(world.app, task);
    await refusedTows(1);
    for (const [viewport, theme] of [
      ['desk', 'light'],
      ['phone', 'dark'],
    ] as const) {
      const page = await browser.open({ language, viewport, theme });
      await world.signIn(page, 'ops', '/tasks');
      await waitForText(page.locator('.tasks-list'), rivalTitle(language));
      await page.locator('.tasks-bulk summary').click();
      // axe reports elements that the sticky bars cover partly.
      await page.evaluate('scrollTo(0, 0)');
      await expectAccessible(page);
      expect(await isWideEnough(page)).toBe(true);
      await page.context().close();
    }
  },
);
