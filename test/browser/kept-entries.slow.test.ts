import type { Page, Route } from 'playwright-core';
import { messagesIn } from '../../src/console/messages';
import { DONE_COOKIE } from '../../src/console/viewer';
import { simulatorViolations } from '../../src/contracts/service/simulator';
import { focused, useBrowser, waitForPath, waitForText, waitUntilGone } from '../support/browser';
import { eventually } from '../support/eventually';
import { PNG } from '../support/images';
import { forward, startProxy } from '../support/proxy';
import { fillReport } from './report-form';
import { useConsole } from './world';

const browser = useBrowser({ fastTimers: true });
const world = useConsole();
const { common, refusals, terms, tow, towDispatch, towFacts } = messagesIn('en');

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
  const reason = rowOf(second).getByLabel(common.reason).and(page.locator('[id^=waive]'));
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

/** Lets the next answer to a form get lost on its way, after the console has acted on it. */
async function loseAnswer(page: Page, path: RegExp): Promise<void> {
  browser.announce(page, { path, status: 'no answer' });
  const lose = async (route: Route) => {
    await route.fetch();
    // The browser took the cookies of the lost answer.
    await page.context().clearCookies({ name: DONE_COOKIE });
    await route.abort('connectionreset');
  };
  await page.route(path, lose, { times: 1 });
}

const outcome = (page: Page) => page.locator('[data-outcome]');
const sendNote = (page: Page) => page.locator('#live-note button[type=submit]').click();
const notesOf = async (ref: string) => (await world.tow(ref)).dispatch.notes.map(({ text }) => text);

test('a form whose connection drops keeps the page and its entries, and sent again by a reloaded page is recorded once', async () => {
  const ref = await world.orderTow();
  const page = await openHalfFilled(ref);
  await loseAnswer(page, /\/notes$/);
  await sendNote(page);
  await waitForText(outcome(page), common.outcomes.uncertain);
  expect(new URL(page.url()).pathname).toBe(`/tows/${ref}`);
  await expectKept(page);

  await page.reload();
  await expectKept(page);
  await waitForText(outcome(page), common.outcomes.uncertain);
  await sendNote(page);
  await waitForText(page.locator('.notice'), common.done.saved);
  expect(await notesOf(ref)).toEqual(['half a sen']);
  expect(await stored(page)).not.toContain('half a sen');

  // A new form has a new key: the same note can be written again on purpose.
  await page.locator('#live-note summary').click();
  await noteOf(page).fill('half a sen');
  await sendNote(page);
  await eventually(async () => expect(await notesOf(ref)).toEqual(['half a sen', 'half a sen']));
});

test('a form that had no answer and is sent by a second tab and after going back is recorded once', async () => {
  const ref = await world.orderTow();
  const page = await openHalfFilled(ref);
  await loseAnswer(page, /\/notes$/);
  await sendNote(page);
  await waitForText(outcome(page), common.outcomes.uncertain);
  const opened = page.waitForEvent('popup');
  await page.evaluate('void window.open(location.href)');
  const second = await opened;
  await expectKept(second);

  await page.goto(world.at('/lookups'));
  await page.goBack();
  await expectKept(page);
  for (const tab of [page, second]) {
    await sendNote(tab);
    await waitForText(tab.locator('.notice'), common.done.saved);
  }
  expect(await notesOf(ref)).toEqual(['half a sen']);
});

const violations = async () => {
  const answer = await fetch(`${world.simulator.url}/simulator/violations`);
  return simulatorViolations.parse(await answer.json()).items.map(({ images }) => images.length);
};
const sendReport = (page: Page) => page.locator('#report-form button[type=submit]').click();

test('a violation whose answer was lost is not reported twice by a reloaded page, unless the user wants it', async () => {
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', '/violations/new');
  await fillReport(page);
  await loseAnswer(page, /\/violations\/new$/);
  await sendReport(page);
  await waitForText(page.locator('[data-upload-notice]'), messagesIn('en').violationForm.upload.failed);
  await page.reload();
  await waitForText(outcome(page), common.outcomes.uncertain);
  await sendReport(page);
  await waitForPath(page, /^\/violations\/[0-9a-f-]{36}$/);
  await eventually(async () => expect(await violations()).toEqual([0]));

  await page.goto(world.at('/violations/new'));
  await waitUntilGone(outcome(page));
  await fillReport(page);
  await sendReport(page);
  await eventually(async () => expect(await violations()).toEqual([0, 0]));
});

test('a violation whose line was cut is reported once with its photos chosen again, and never silently without them', async () => {
  let isCut = false;
  const line = await startProxy((incoming, response) => {
    const isLost = isCut && incoming.method === 'POST';
    forward(world.at(''), [incoming, response], isLost ? new Promise(() => response.destroy()) : null);
  });
  const page = await browser.open();
  await world.signIn(page, 'dispatcher');
  await page.goto(`${line}/violations/new`);
  await fillReport(page);
  const choose = () =>
    page.locator('#report-images').setInputFiles([{ name: 'front.png', mimeType: 'image/png', buffer: PNG }]);
  const { failed } = messagesIn('en').violationForm.upload;
  await choose();
  isCut = true;
  browser.announce(page, { path: '/violations/new', status: 'no answer' });
  await sendReport(page);
  await waitForText(page.locator('[data-upload-notice]'), failed);
  isCut = false;
  await eventually(async () => expect(await violations()).toEqual([1]));

  await page.reload();
  await waitForText(outcome(page), common.outcomes.uncertain);
  browser.announce(page, { path: '/violations/new', status: 422 });
  await sendReport(page);
  await waitForText(focused(page), refusals.idempotency_key_reused);
  expect(await violations()).toEqual([1]);

  await page.goto(`${line}/violations/new`);
  await fillReport(page);
  await choose();
  isCut = true;
  browser.announce(page, { path: '/violations/new', status: 'no answer' });
  await sendReport(page);
  await waitForText(page.locator('[data-upload-notice]'), failed);
  isCut = false;
  await page.reload();
  await choose();
  await sendReport(page);
  await waitForPath(page, /^\/violations\/[0-9a-f-]{36}$/);
  await eventually(async () => expect(await violations()).toEqual([1, 1]));
  await page.close();
});

test.each([
  [413, common.outcomes.tooLarge],
  [403, common.outcomes.refusedByProxy],
  [502, common.outcomes.uncertain],
])('a form that a proxy answers with %i keeps the page and shows what happened', async (status, text) => {
  const page = await openHalfFilled(await world.orderTow());
  browser.announce(page, { path: /\/notes$/, status });
  await page.route('**/notes', (route) => route.fulfill({ status, contentType: 'text/html', body: '<h1>nginx</h1>' }));
  await sendNote(page);
  await waitForText(outcome(page), text);
  await expectKept(page);
});

test('a form that is sent without a network keeps the page and says that it was not sent', async () => {
  const page = await openHalfFilled(await world.orderTow());
  await page.context().setOffline(true);
  const send = page.locator('#live-note button[type=submit]');
  await send.click();
  const alert = page.locator('#live-note').getByRole('alert');
  await waitForText(alert, common.outcomes.notSent);
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
