import type { Locator, Page } from 'playwright-core';
import { z } from 'zod';
import { messagesIn } from '../../src/console/messages';
import { apiKeyView } from '../../src/contracts/operator';
import { expectAccessible, focused, useBrowser, waitForCount, waitForPath, waitForText } from '../support/browser';
import { addChange } from '../support/changes';
import { eventually } from '../support/eventually';
import { useConsole } from './world';

const browser = useBrowser({ fastTimers: true });
const world = useConsole();

const rows = (page: Page) => page.locator('.tow-row');
const row = (page: Page, ref: string) => rows(page).filter({ hasText: ref });
const crewField = (within: Locator) => within.getByRole('combobox');
const link = (page: Page, ref: string) => page.getByRole('link', { name: ref, exact: true });
/** On a phone the filters are folded away. */
const openFilters = (page: Page) => page.locator('#board-filters > summary').click();
const live = (page: Page) => page.locator('body[data-stream=live]').waitFor();

/** Counts, in the page, the events about tows that the stream delivers to the code of the page. */
const COUNT_TOW_EVENTS = `
  globalThis.towEventsHeard = 0;
  const addListener = EventSource.prototype.addEventListener;
  EventSource.prototype.addEventListener = function (type, ...rest) {
    if (type === 'message') {
      addListener.call(this, type, ({ data }) => { towEventsHeard += Number(data.includes('"tow.changed"')); });
    }
    return addListener.call(this, type, ...rest);
  };
`;

/** The id and the vertical position of each row. */
async function places(page: Page): Promise<readonly string[]> {
  const all = await rows(page).all();
  return Promise.all(
    all.map(async (each) => {
      const box = await each.boundingBox();
      return `${await each.getAttribute('id')} at ${Math.round(box?.y ?? -1)}`;
    }),
  );
}

/** Opens a board with a session of this role and waits until it is live. */
async function lookAt(page: Page, role: 'viewer' | 'dispatcher', path = '/board'): Promise<void> {
  await world.signIn(page, role, path);
  await live(page);
}

test('the board shows two lines of a long crew and truck, and their whole names in the tooltip', async () => {
  const ref = await world.orderTow();
  const [crew, truck] = ['North crew '.repeat(9).trim(), 'T'.repeat(100)];
  await world.call('POST', `/tows/${ref}/assignment`, { crew, truck });
  const page = await browser.open();
  await lookAt(page, 'dispatcher');
  const names = row(page, ref).locator('.crew-name');
  expect(await names.getAttribute('title')).toBe(`${crew} · ${truck}`);
  expect((await names.boundingBox())?.height).toBeLessThan(60);
});

test('the board announces a new tow by a button, moves no row, and lists the tow after a click on the button', async () => {
  await world.orderTows(2);
  const page = await browser.open();
  await lookAt(page, 'viewer');
  const before = await places(page);
  const added = await world.orderTow();
  const button = page.getByRole('link', { name: '1 new: show' });
  await button.waitFor();
  await waitForText(page.locator('.chip', { hasText: 'Open' }), '3');
  expect(await places(page)).toEqual(before);

  await button.click();
  await waitForCount(rows(page), 3);
  await waitForText(rows(page), added);

  // A click anywhere in the row opens the tow.
  await row(page, added).getByText('No reports yet').click();
  await waitForPath(page, `/tows/${added}`);
});

test('the board shows a change in the row of the tow and keeps the focus and the text that is being typed', async () => {
  const [starts, assigned] = await world.orderTows(2);
  const page = await browser.open();
  await lookAt(page, 'dispatcher');
  const before = await places(page);
  const open = row(page, assigned ?? '');
  await open.getByText('Assign', { exact: true }).first().click();
  await crewField(open).pressSequentially('Nor');

  await world.refuseOnce('started');
  await world.record(starts ?? '', 'started');
  await waitForText(row(page, starts ?? ''), 'Decide: Started was refused');
  await page.keyboard.type('th');
  expect(await crewField(open).inputValue()).toBe('North');

  await page.getByRole('heading', { level: 1 }).click();
  await link(page, starts ?? '').focus();
  await world.record(starts ?? '', 'canceled', { cancellation_reason: 'gone on arrival' });
  await waitForText(row(page, starts ?? ''), 'No longer matches this list');
  await expectAccessible(page);
  expect(await focused(page).innerText()).toBe(starts);
  expect((await places(page)).map((place) => place.split(' ')[0])).toEqual(before.map((place) => place.split(' ')[0]));
});

test('a board refreshes once per second during hundreds of events, and moves no row', async () => {
  const [first = ''] = await world.orderTows(5);
  const page = await browser.open({ fastTimers: false });
  await page.addInitScript(COUNT_TOW_EVENTS);
  await page.clock.install();
  let asked = 0;
  let answered = 0;
  page.on('request', (request) => (asked += Number(request.url().endsWith('/board/live'))));
  page.on('requestfinished', (request) => (answered += Number(request.url().endsWith('/board/live'))));
  await lookAt(page, 'viewer');
  const before = await places(page);
  await page.clock.pauseAt(z.number().parse(await page.evaluate('Date.now()')) + 30_000);
  // Late events of the five tows may have led to a refresh.
  await eventually(() => expect(answered).toBe(asked));
  const earlier = asked;
  const { redis } = world.app.foundation;
  const eventsHeard = async () => z.number().parse(await page.evaluate('towEventsHeard'));
  for (const refreshes of [1, 2, 3]) {
    const heardBefore = await eventsHeard();
    await Promise.all(Array.from({ length: 200 }, () => addChange(redis, first)));
    await eventually(async () => expect(await eventsHeard()).toBeGreaterThanOrEqual(heardBefore + 200));
    await page.clock.runFor(900);
    expect(asked - earlier).toBe(refreshes - 1);
    await page.clock.runFor(100);
    await eventually(() => expect([asked - earlier, answered - earlier]).toEqual([refreshes, refreshes]));
  }
  expect(await places(page)).toEqual(before);
});

test('the board can be searched and a tow opened with the keyboard alone', async () => {
  // Each is known before the next is ordered, so that their order on the board is certain.
  const refs: string[] = [];
  for (let count = 0; count < 3; count += 1) refs.unshift(await world.orderTow());
  const page = await browser.open();
  await lookAt(page, 'viewer');
  await page.keyboard.press('j');
  expect(await focused(page).innerText()).toBe(await link(page, refs[0] ?? '').innerText());
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('/');
  await page.keyboard.type((refs[2] ?? '').toLowerCase());
  await page.keyboard.press('Enter');
  await waitForPath(page, /\/board\?q=/);
  await waitForCount(rows(page), 1);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await waitForPath(page, `/tows/${refs[2]}`);
});

test.each(['en', 'ar'] as const)(
  'the list of shortcuts leads to "Sign out everywhere" in the language %s',
  async (language) => {
    const { signOutEverywhere } = messagesIn(language).common;
    const page = await browser.open({ language });
    await world.signIn(page, 'dispatcher');
    await page.keyboard.press('?');
    await page.locator('#shortcut-sheet').getByRole('link', { name: signOutEverywhere }).click();
    await page.getByRole('button', { name: signOutEverywhere }).click();
    await waitForPath(page, '/sign-in');
  },
);

test('the shortcuts work with an Arabic keyboard', async () => {
  const ref = await world.orderTow();
  const page = await browser.open({ language: 'ar' });
  await lookAt(page, 'viewer');
  const press = (key: string) => page.locator('main').dispatchEvent('keydown', { key });
  await press('ت');
  expect(await focused(page).innerText()).toBe(await link(page, ref).innerText());
  await press('ل');
  await press('ف');
  await waitForPath(page, '/tasks');
});

test('a page in the dark theme is printed in the light one, without the header', async () => {
  const page = await browser.open({ theme: 'dark' });
  await lookAt(page, 'viewer');
  await page.emulateMedia({ media: 'print' });
  expect(await page.evaluate('getComputedStyle(document.documentElement).color')).toBe('rgb(23, 32, 27)');
  expect(await page.locator('header.top').isVisible()).toBe(false);
  await waitForCount(page.getByRole('heading', { level: 1 }), 1);
});

test('an open board goes to the sign-in page when the API key is revoked', async () => {
  const ref = await world.orderTow();
  const page = await browser.open();
  await lookAt(page, 'viewer');
  const { items } = z.object({ items: z.array(apiKeyView) }).parse(await (await world.call('GET', '/keys')).json());
  await world.call('DELETE', `/keys/${items.find(({ name }) => name === 'viewer')?.id}`);
  await world.record(ref, 'started');
  await waitForPath(page, '/sign-in');
});

test('the board filters, searches and assigns a crew without JavaScript', async () => {
  const [ref = '', other = ''] = await world.orderTows(2);
  await world.record(other, 'started');
  const page = await browser.open({ javaScript: false });
  await world.signIn(page, 'dispatcher');
  await page.getByRole('link', { name: /^Requested/ }).click();
  await waitForCount(rows(page), 1);
  await row(page, ref).getByText('Assign', { exact: true }).first().click();
  await crewField(row(page, ref)).fill('North');
  await row(page, ref).getByRole('button', { name: 'Assign' }).click();
  await waitForPath(page, '/board?state=requested');
  await waitForText(row(page, ref), 'North');
  await waitForText(page.locator('.notice'), 'The crew is assigned.');
  await page.getByRole('searchbox').fill('ا ب ح ١٢٣٤');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await waitForText(page.locator('main'), 'No results');
  await page.getByRole('link', { name: 'Search in all states' }).click();
  await waitForText(rows(page), other);
});

test('the board works for a dispatcher in Arabic on a phone', async () => {
  const [ref = '', other = ''] = await world.orderTows(2);
  await world.refuseOnce('started');
  await world.record(other, 'started');
  await world.towWhen(other, ({ tasks }) => tasks.length > 0);
  const { board, terms, towDispatch } = messagesIn('ar');
  const page = await browser.open({ language: 'ar', viewport: 'phone' });
  await lookAt(page, 'dispatcher');
  await expectFits(page);
  await openFilters(page);
  await page.getByRole('link', { name: new RegExp(`^${board.attention}`) }).click();
  await waitForCount(rows(page), 1);
  await waitForText(row(page, other), terms.reportStates.refused);
  await page.goto(world.at('/board'));
  await row(page, ref).getByText(towDispatch.crew.assign, { exact: true }).first().click();
  await crewField(row(page, ref)).fill('فريق الشمال');
  await expectFits(page);
  await row(page, ref).getByRole('button', { name: towDispatch.crew.assign }).click();
  await waitForText(row(page, ref), 'فريق الشمال');
  await openFilters(page);
  await page.locator('#board-crews summary').click();
  await expectFits(page);
  await page.locator('#board-crews').getByText('فريق الشمال').click();
  await waitForCount(rows(page), 1);
});

/** Fails unless the page is accessible and no wider than the window. */
async function expectFits(page: Page): Promise<void> {
  await expectAccessible(page);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
}

test.each([
  ['ar', 'dark', 'desk'],
  ['en', 'light', 'phone'],
] as const)(
  'the board is accessible and fits the window in every state in %s, %s, on a %s',
  async (language, theme, viewport) => {
    const page = await browser.open({ language, theme, viewport });
    await lookAt(page, 'dispatcher');
    await expectFits(page);
    const [held = '', refused = '', plain = ''] = await world.orderTows(3);
    await world.record(held, 'started');
    await world.call('POST', `/tows/${held}/holds`, { reason: 'police' });
    await world.towWhen(held, ({ reports }) => reports.every(({ state }) => state === 'accepted'));
    await world.refuseOnce('started');
    await world.record(refused, 'started', {
      plate_number: 'EXP-99812/DIP',
      towed_location: `${'A very long name of a place '.repeat(12)}${'x'.repeat(80)}`,
      latitude: 24.7,
      longitude: 46.6,
    });
    await world.call('POST', `/tows/${refused}/assignment`, { crew: `${'Crew '.repeat(12)}${'y'.repeat(38)}` });
    await world.towWhen(refused, ({ tasks }) => tasks.length > 0);
    for (const path of ['/board?state=all', '/board?q=nothing-like-it', '/board?state=released']) {
      await page.goto(world.at(path));
      await expectFits(page);
    }
    await page.goto(world.at('/board'));
    await row(page, plain).locator('.assign > summary').click();
    await expectFits(page);
  },
);
