import type { Locator, Page } from 'playwright-core';
import { z } from 'zod';
import { wordsOf } from '../../src/console/words';
import { apiKeyView } from '../../src/contracts/operator';
import {
  expectAccessible,
  focused,
  transferSize,
  useBrowser,
  waitForCount,
  waitForPath,
  waitForText,
} from '../support/browser';
import { eventually } from '../support/eventually';
import { useConsole } from './world';

const browser = useBrowser();
const world = useConsole();

const rows = (page: Page) => page.locator('.tow-row');
const row = (page: Page, ref: string) => rows(page).filter({ hasText: ref });
const crewField = (within: Locator) => within.getByRole('combobox');
const link = (page: Page, ref: string) => page.getByRole('link', { name: ref, exact: true });
const live = (page: Page) => page.locator('body[data-stream=live]').waitFor();

/** Where each row stands on the page, by what it is about. */
async function places(page: Page): Promise<readonly string[]> {
  const all = await rows(page).all();
  return Promise.all(
    all.map(async (each) => {
      const box = await each.boundingBox();
      return `${await each.getAttribute('id')} at ${Math.round(box?.y ?? -1)}`;
    }),
  );
}

/** A board that somebody of this role looks at, live. */
async function lookAt(page: Page, role: 'viewer' | 'dispatcher', path = '/board'): Promise<void> {
  await world.signIn(page, role, path);
  await live(page);
}

test('a new tow is announced by a button, moves no row, and opens from the list that is loaded then', async () => {
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

  // A row opens wherever it is pressed.
  await row(page, added).getByText('Nothing reported yet').click();
  await waitForPath(page, `/tows/${added}`);
});

test('a change is shown where the row stands, while the keyboard and what is being typed stay', async () => {
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
  await waitForText(row(page, starts ?? ''), 'no longer in this list');
  await expectAccessible(page);
  expect(await focused(page).innerText()).toBe(starts);
  expect((await places(page)).map((place) => place.split(' ')[0])).toEqual(before.map((place) => place.split(' ')[0]));
});

test('a board that is paused stays as it is until it goes on', async () => {
  const ref = await world.orderTow();
  const page = await browser.open();
  await lookAt(page, 'viewer');
  await page.keyboard.press('p');
  await world.record(ref, 'started');
  await waitForText(page.locator('[data-live-state]'), /Paused \(\d+\)/);
  expect(await row(page, ref).innerText()).toContain('Requested');
  await page.keyboard.press('p');
  await waitForText(row(page, ref), 'Accepted');
});

test('hundreds of events a second cost one refresh a second, and move nothing', async () => {
  const [first = ''] = await world.orderTows(5);
  const page = await browser.open();
  await lookAt(page, 'viewer');
  const before = await places(page);
  const askedAtMs: number[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/board/live')) askedAtMs.push(performance.now());
  });
  const { redis } = world.app.foundation;
  const event = JSON.stringify({ type: 'tow.changed', towing_reference_id: first, at_ms: 1_700_000_000_000 });
  let told = 0;
  await eventually(async () => {
    await Promise.all(Array.from({ length: 20 }, () => redis.publish('{p0}:events', event)));
    told += 20;
    if (askedAtMs.length < 3) throw new Error('not yet refreshed three times');
  });
  const [start = 0, , third = 0] = askedAtMs;
  expect(third - start).toBeGreaterThan(1900);
  expect(told).toBeGreaterThan(300);
  expect(await places(page)).toEqual(before);
});

test('the keyboard alone searches, walks the rows and opens a tow', async () => {
  const refs = [...(await world.orderTows(3))].toReversed();
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

test('whose key ends while the board is open is asked to sign in', async () => {
  const ref = await world.orderTow();
  const page = await browser.open();
  await lookAt(page, 'viewer');
  const { items } = z.object({ items: z.array(apiKeyView) }).parse(await (await world.call('GET', '/keys')).json());
  await world.call('DELETE', `/keys/${items.find(({ name }) => name === 'viewer')?.id}`);
  await world.record(ref, 'started');
  await waitForPath(page, '/sign-in');
});

test('without JavaScript one filters, searches and assigns a crew', async () => {
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
  await waitForText(page.locator('main'), 'Nothing found');
  await page.getByRole('link', { name: 'Search in every state' }).click();
  await waitForText(rows(page), other);
});

test('a dispatcher works in Arabic on a phone', async () => {
  const [ref = '', other = ''] = await world.orderTows(2);
  await world.refuseOnce('started');
  await world.record(other, 'started');
  await world.towWhen(other, ({ tasks }) => tasks.length > 0);
  const { board, terms } = wordsOf('ar');
  const page = await browser.open({ language: 'ar', viewport: 'phone' });
  await lookAt(page, 'dispatcher');
  await expectFits(page);
  await page.getByRole('link', { name: new RegExp(`^${board.attention}`) }).click();
  await waitForCount(rows(page), 1);
  await waitForText(row(page, other), terms.reportStates.refused);
  await page.goto(world.at('/board'));
  await row(page, ref).getByText(board.assign, { exact: true }).first().click();
  await crewField(row(page, ref)).fill('فريق الشمال');
  await expectFits(page);
  await row(page, ref).getByRole('button', { name: board.assign }).click();
  await waitForText(row(page, ref), 'فريق الشمال');
  await page.locator('#board-crews summary').click();
  await expectFits(page);
  await page.locator('#board-crews').getByText('فريق الشمال').click();
  await waitForCount(rows(page), 1);
});

/** Accessible as it stands, and nothing beside the window. */
async function expectFits(page: Page): Promise<void> {
  await expectAccessible(page);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
}

test.each([
  ['ar', 'dark', 'desk'],
  ['en', 'light', 'phone'],
] as const)('in %s and %s on a %s every state of the board is accessible', async (language, theme, viewport) => {
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
});

test('the first view of a full board is below 100 KB in either language', async () => {
  const refs = await world.orderTows(50);
  await Promise.all(
    refs.map(async (ref, at) => {
      await world.call('POST', `/tows/${ref}/assignment`, { crew: `Crew ${at % 7}`, truck: `T-${at}` });
      for (const event of ['started', 'detained']) await world.record(ref, event);
      await world.record(ref, 'invoice', { vehicle_type: 'HEAVY' });
    }),
  );
  const sizes: Record<string, number> = {};
  for (const language of ['en', 'ar'] as const) {
    const page = await browser.open({ language });
    await world.signIn(page, 'dispatcher');
    sizes[language] = (await transferSize(page, world.at('/board'))).bytes;
    await waitForCount(rows(page), 50);
  }
  for (const bytes of Object.values(sizes)) expect(bytes).toBeLessThan(100_000);
});
