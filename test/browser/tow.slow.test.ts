import type { Locator, Page } from 'playwright-core';
import { messagesIn } from '../../src/console/messages';
import { HOUR_MS, MINUTE_MS, RIYADH_OFFSET_MS } from '../../src/domain/timestamp';
import {
  expectAccessible,
  focused,
  useBrowser,
  waitForCount,
  waitForPath,
  waitForText,
  waitUntilGone,
} from '../support/browser';
import { PNG } from '../support/images';
import { useConsole, WHEREABOUTS } from './world';

const browser = useBrowser({ fastTimers: true });
const town = useConsole();

const pathOf = (ref: string) => `/tows/${ref}`;
const unfold = (page: Page | Locator, label: string) =>
  page
    .locator('summary')
    .filter({ hasText: new RegExp(`^${label}$`) })
    .first()
    .click();
const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** Submits a form by its button and waits for the notice of the next page. */
async function submit(page: Page, button: string): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).click();
  await waitForText(page.locator('.notice'), /Recorded|سجيل/);
}

async function fillPlace(
  page: Page,
  labels: readonly [plate: string, place: string, latitude: string, longitude: string],
) {
  const form = page.locator('#form-started');
  const values = [WHEREABOUTS.plate_number, WHEREABOUTS.towed_location, '24.7136', '46.6753'];
  for (const [at, label] of labels.entries()) await form.getByLabel(label).fill(values[at] ?? '');
}

const noSidewaysScrolling = async (page: Page) =>
  expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0);

test('a dispatcher takes a tow from request to release in the console alone', async () => {
  const ref = await town.orderTow();
  const page = await browser.open();
  await town.signIn(page, 'dispatcher', pathOf(ref));
  await waitForText(page.locator('#tow-why'), 'Next: Started or Canceled');
  await expectAccessible(page);

  await unfold(page, 'Assign');
  await page.getByLabel('Crew', { exact: true }).fill('North crew');
  await page.getByRole('button', { name: 'Assign', exact: true }).click();
  await waitForText(page.locator('.notice'), 'The crew is assigned.');

  await fillPlace(page, ['Plate', 'Towed from (address)', 'Latitude', 'Longitude']);
  await submit(page, 'Record the start of the tow');
  await waitForText(page.locator('.plate'), 'A B J 1234');
  await submit(page, 'Vehicle in the yard: detained');
  await submit(page, 'Request the invoice');
  // The page shows the response and the webhook without a reload.
  await waitForText(section(page, 'Invoice'), 'Answer and webhook match');
  await expectAccessible(page);
  await page.getByLabel('Receipt or payment reference').fill('receipt 17');
  await submit(page, 'Record the payment');
  await waitForText(section(page, 'Before the release'), 'Payment recorded');
  await submit(page, 'Vehicle handed back: released');

  await waitForText(page.locator('#tow-why'), 'Nothing to do: the vehicle is released and all reports are accepted.');
  const tow = await town.towWhen(
    ref,
    (seen) => seen.reports.length === 5 && seen.reports.every(({ state }) => state === 'accepted'),
  );
  expect(tow.state).toBe('released');
  for (const operation of ['started', 'detained', 'invoice', 'payment', 'released']) {
    expect(await town.callsOf(operation)).toHaveLength(1);
  }
  await waitForText(section(page, 'Timeline'), 'The service accepted the report “Released”');
  for (const summary of await page.getByText('Request and answer').all()) await summary.click();
  await expectAccessible(page);
});

test('a crew records start, photos and detention of a tow on a phone in Arabic with the dark theme', async () => {
  const ref = await town.orderTow();
  const page = await browser.open({ language: 'ar', viewport: 'phone', theme: 'dark' });
  await town.signIn(page, 'crew', pathOf(ref));
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
  await expectAccessible(page);
  await noSidewaysScrolling(page);

  await page.getByRole('button', { name: 'في الطريق' }).click();
  await waitForPath(page, pathOf(ref));
  await fillPlace(page, ['اللوحة', 'سُحبت من (العنوان)', 'خط العرض', 'خط الطول']);
  await submit(page, 'تسجيل بدء السحب');
  await waitForText(page.locator('.plate'), 'ا ب ح ١٢٣٤');
  await unfold(page, 'إضافة صور');
  await page.locator('#photos-images').setInputFiles({ name: 'front.png', mimeType: 'image/png', buffer: PNG });
  await waitForCount(page.locator('#live-photos [data-previews] img'), 1);
  await page.getByRole('button', { name: 'رفع', exact: true }).click();
  await page.getByAltText('صورة front.png').waitFor();
  await submit(page, 'المركبة في الساحة: الحجز');

  expect((await town.towWhen(ref, 'detained')).dispatch.photos).toHaveLength(1);
  // A crew may not request the invoice.
  expect(await page.getByRole('button', { name: 'طلب الفاتورة' }).count()).toBe(0);
  await expectAccessible(page);
  await noSidewaysScrolling(page);
});

test('the tow page names the limit of photos and rejects too many bytes before it sends them', async () => {
  const ref = await town.orderTow();
  const page = await browser.open();
  await town.signIn(page, 'crew', pathOf(ref));
  await unfold(page, 'Add photos');
  const form = page.locator('#live-photos');
  await waitForText(form.locator('.hint'), 'at most 9.5 MiB in total');
  // No image, so that it is not scaled down.
  const file = (name: string) => ({ name, mimeType: 'image/heic', buffer: Buffer.alloc(6_000_000) });
  await page.locator('#photos-images').setInputFiles([file('a.heic'), file('b.heic')]);
  await waitForText(form.locator('[data-images-problem]'), /11\.4 MiB.*; at most .*9\.5 MiB/);
  await form.getByRole('button', { name: 'Upload', exact: true }).click();
  await waitForText(focused(page), 'Remove some');
  await expectAccessible(page);
  expect((await town.tow(ref)).dispatch.photos).toEqual([]);
});

test('a refused report of a tow is corrected on the tow page and sent again', async () => {
  const ref = await town.orderTow();
  await town.refuseOnce('started');
  const page = await browser.open();
  await town.signIn(page, 'dispatcher', pathOf(ref));
  await town.record(ref, 'started');
  await town.record(ref, 'detained');

  const tasks = section(page, 'Decisions needed');
  await waitForText(tasks, 'Missing required field');
  await waitForText(page.locator('#tow-why'), 'The service refused the report “Started”; a decision is needed');
  await expectAccessible(page);
  await unfold(tasks, 'Correct and send again');
  expect(await tasks.getByLabel('Plate').inputValue()).toBe('ABJ 1234');

  browser.announce(page, { path: new RegExp(`${ref}/reports/started-1/correct`), status: 422 });
  await tasks.getByLabel('Plate').fill('KLZ 77');
  await tasks.getByLabel('Latitude').fill('99');
  await tasks.getByRole('button', { name: 'Correct and send again' }).click();
  await waitForText(page.getByRole('alert'), 'Check these fields');
  await waitForText(focused(page), 'Not done');
  expect(await page.getByLabel('Plate').inputValue()).toBe('KLZ 77');
  await expectAccessible(page);

  await page.getByLabel('Latitude').fill('24.7');
  await page.getByRole('button', { name: 'Correct and send again' }).click();
  await waitForText(page.locator('.notice'), 'Decision saved.');
  await town.towWhen(ref, ({ reports }) => reports.every(({ state }) => state === 'accepted'));
  expect((await town.callsOf('started')).map(({ body }) => body?.['plate_number'])).toEqual(['ABJ 1234', 'KLZ 77']);
  await waitForText(page.locator('#tow-why'), 'next: Released');
  await waitUntilGone(tasks);
});

test('the tow page keeps the text being typed when the tow changes and warns about the change', async () => {
  const ref = await town.orderTow();
  const page = await browser.open();
  await town.signIn(page, 'dispatcher', pathOf(ref));
  await unfold(page, 'Add a note');
  const note = page.getByLabel('Note', { exact: true });
  await note.fill('half a sen');
  await page.locator('#fact-started-plate_number').fill('KLZ 77');
  await note.focus();

  await town.record(ref, 'canceled', { cancellation_reason: 'Gone on arrival' });
  await waitForText(page.locator('#tow-head'), 'Canceled');
  expect(await note.inputValue()).toBe('half a sen');
  expect(await focused(page).getAttribute('name')).toBe('text');
  expect(await page.locator('#fact-started-plate_number').inputValue()).toBe('KLZ 77');
  const stale = page.locator('#live-facts [data-stale]');
  await waitForText(stale, 'The tow has changed since this form was opened.');
  // An unused form disappears when its action is no longer possible.
  await waitUntilGone(page.locator('#holds'));
  await expectAccessible(page);
  await stale.getByRole('link').click();
  await waitForText(section(page, 'What happened?'), 'No further events can be recorded for this tow.');
});

test('an open page shows and records the plate of the violation that its tow is linked to meanwhile', async () => {
  const place = { location: 'Olaya Street', latitude: 24.69, longitude: 46.68 };
  const violations = [
    { ...place, metadata_id: 'case-a', plateNumber: 'ABJ 1235' },
    { ...place, metadata_id: 'case-b', plateNumber: 'KLM 77' },
  ];
  await town.call('POST', '/violations/known', { violations });
  const ref = await town.orderTow({ metadata: { id: 'case-a' } });
  const page = await browser.open();
  await town.signIn(page, 'crew', pathOf(ref));
  await waitForText(page.locator('#form-started'), 'A B J 1235');
  await town.call('POST', `/tows/${ref}/violation`, { violation_id: 'case-b' });
  await waitForText(page.locator('#form-started'), 'KLM 77');
  await submit(page, 'Record the start of the tow');
  expect((await town.towWhen(ref, 'started')).plate_number).toBe('KLM 77');
});

test('a refused tow form keeps its message and input when the page refreshes', async () => {
  const ref = await town.orderTow();
  const page = await browser.open();
  await town.signIn(page, 'dispatcher', pathOf(ref));
  await unfold(page, 'Cancel the tow');
  await page.getByLabel('Reason for cancellation').first().selectOption({ label: 'Wrong vehicle' });
  await page.getByLabel('Details').fill('a blue van');
  await town.record(ref, 'canceled', { cancellation_reason: 'Gone on arrival' });
  await waitForText(page.locator('#tow-head'), 'Canceled');
  browser.announce(page, { path: `${pathOf(ref)}/canceled`, status: 409 });
  await page.getByRole('button', { name: 'Cancel the tow', exact: true }).click();
  await waitForText(page.locator('.problem'), 'a blue van');
  await expectAccessible(page);
  const refreshed = page.waitForResponse((response) => response.url().endsWith(pathOf(ref)));
  await page.locator('#tow').dispatchEvent('changed');
  await (await refreshed).finished();
  await waitForText(page.locator('.problem'), 'a blue van');
});

test('a tow is started and canceled without JavaScript', async () => {
  const ref = await town.orderTow();
  const page = await browser.open({ javaScript: false });
  await town.signIn(page, 'dispatcher', pathOf(ref));
  await fillPlace(page, ['Plate', 'Towed from (address)', 'Latitude', 'Longitude']);
  await submit(page, 'Record the start of the tow');
  await unfold(page, 'Cancel the tow');
  await page.getByLabel('Reason for cancellation').first().selectOption({ label: 'Owner came and moved the vehicle' });
  await page.getByLabel('Details').fill('paid the fine');
  await submit(page, 'Cancel the tow');
  await town.towWhen(ref, ({ reports }) => reports.length === 2 && reports.every(({ state }) => state === 'accepted'));
  const [call] = await town.callsOf('canceled');
  expect(call?.body?.['cancellation_reason']).toBe('Owner came and moved the vehicle: paid the fine');
  await page.reload();
  await waitForText(page.locator('#tow-why'), 'Nothing to do: the tow is canceled');
});

test('coordinates that are pasted as a pair fill in latitude and longitude, and a single number is left as it is', async () => {
  const ref = await town.orderTow();
  const page = await browser.open();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await town.signIn(page, 'crew', pathOf(ref));
  const [latitude, longitude] = ['latitude', 'longitude'].map((name) => page.locator(`#fact-started-${name}`));
  const paste = async (text: string) => {
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
    await latitude?.focus();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.press('ControlOrMeta+V');
  };
  await paste('24,7136');
  expect([await latitude?.inputValue(), await longitude?.inputValue()]).toEqual(['24,7136', '']);
  await paste('24.7136, 46.6753');
  expect([await latitude?.inputValue(), await longitude?.inputValue()]).toEqual(['24.7136', '46.6753']);
});

test('the age of a tow counts on while its page is open', async () => {
  const ref = await town.orderTow();
  const page = await browser.open({ fastTimers: false });
  await page.clock.install();
  await town.signIn(page, 'crew', pathOf(ref));
  // A refresh would bring the age that the server knows.
  await page.route(town.at(pathOf(ref)), (route) => route.fulfill({ status: 204 }));
  const age = page.locator('.tow-ways time');
  await waitForText(age, /^\d+ s$/);
  await page.clock.runFor(45_000);
  await waitForText(age, /^(?:4[5-9]|5\d) s$|^1 min/);
});

test('the time of an event that happened earlier lies between the year 2000 and now', async () => {
  const ref = await town.orderTow();
  const page = await browser.open();
  await town.signIn(page, 'crew', pathOf(ref));
  await unfold(page.locator('#form-started'), 'It happened earlier');
  const time = page.locator('#fact-started-occurred_at');
  const isValid = async (value: string) => {
    await time.fill(value);
    return (await time.and(page.locator(':invalid')).count()) === 0;
  };
  const riyadh = (ms: number) => new Date(ms + RIYADH_OFFSET_MS).toISOString().slice(0, 16);
  expect(await isValid('1999-12-31T23:59')).toBe(false);
  expect(await isValid(riyadh(Date.now() - MINUTE_MS))).toBe(true);
  expect(await isValid(riyadh(Date.now() + HOUR_MS))).toBe(false);
});

test('the tow form takes the position of the device and shows its accuracy', async () => {
  const { use, denied } = messagesIn('en').common.position;
  const ref = await town.orderTow();
  const page = await browser.open({ viewport: 'phone' });
  await town.signIn(page, 'crew', pathOf(ref));
  const form = page.locator('#form-started');
  const button = form.getByRole('button', { name: use });
  await button.click();
  await waitForText(form.locator('[data-locate-state]'), denied);
  await page.context().grantPermissions(['geolocation']);
  await page.context().setGeolocation({ latitude: 24.7, longitude: 46.6, accuracy: 12 });
  await button.click();
  await waitForText(form.locator('[data-locate-state]'), 'accurate to 12 m');
  expect(await form.getByLabel('Latitude').inputValue()).toBe('24.700000');
  expect(await form.getByLabel('Longitude').inputValue()).toBe('46.600000');
});
