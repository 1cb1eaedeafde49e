import type { Page, Route } from 'playwright-core';
import { messagesIn } from '../../src/console/messages';
import { page as pageOf } from '../../src/contracts/paging';
import { simulatorViolations } from '../../src/contracts/service/simulator';
import { violationView } from '../../src/contracts/violation/violations';
import {
  expectAccessible,
  focused,
  useBrowser,
  waitForCount,
  waitForPath,
  waitForText,
  waitUntilGone,
} from '../support/browser';
import { eventually } from '../support/eventually';
import { imageOf, IMAGES } from '../support/images';
import { api } from '../operator/client';
import { report, REQUIRED, violationIn } from '../operator/forms';
import { useConsole } from './world';

const browser = useBrowser({ fastTimers: true });
const world = useConsole();

const PAGE_PATH = /^\/violations\/[0-9a-f-]{36}$/;
const image = (name: string, sizeBytes: number, seed = 1) => ({
  name,
  mimeType: 'image/png',
  buffer: imageOf(sizeBytes, seed),
});
/** A HEIC image, which Chromium cannot decode and so does not scale down. */
const undecodable = (name: string, sizeBytes: number) => {
  const heic = IMAGES.find(([known]) => known === 'a.heic')?.[1] ?? Buffer.alloc(0);
  return { name, mimeType: 'image/heic', buffer: Buffer.concat([heic, Buffer.alloc(sizeBytes - heic.length)]) };
};
const submit = (page: Page) => page.locator('#report-form button[type=submit]').click();
const chooseImages = (page: Page, ...files: readonly ReturnType<typeof image>[]) =>
  page.locator('#report-images').setInputFiles([...files]);
const valueOf = (page: Page, name: string) => page.locator(`#report-${name}`).inputValue();

/** Fills in the required fields by their labels in this language. */
async function fill(page: Page, language: 'en' | 'ar', changes: Readonly<Record<string, string>> = {}): Promise<void> {
  const { fields } = messagesIn(language).violationForm;
  const entered: Record<string, string> = { ...REQUIRED, ...changes };
  for (const name of ['plateNumber', 'zoneId', 'latitude', 'longitude', 'location'] as const) {
    await page.getByLabel(fields[name], { exact: true }).fill(entered[name] ?? '');
  }
  await page.getByLabel(fields.plateType, { exact: true }).selectOption(entered['plateType'] ?? '');
  await page.getByLabel(fields.violationType, { exact: true }).selectOption(entered['violationType'] ?? '');
}

/** Limits the upload rate of a page. Returns a function that ends the limit. */
async function limitUpload(page: Page, bytesPerSecond: number): Promise<() => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  const rates = { downloadThroughput: -1, uploadThroughput: bytesPerSecond };
  await session.send('Network.emulateNetworkConditions', { offline: false, latency: 0, ...rates });
  // The limit belongs to the session: another session cannot lift it.
  return () => session.detach();
}

/** Signs the user of a page out. Returns the other tab. */
async function signOutInAnotherTab(page: Page): Promise<Page> {
  const other = await page.context().newPage();
  await other.goto(world.at('/lookups'));
  await other.getByRole('button', { name: 'Sign out' }).click();
  await waitForPath(other, '/sign-in');
  return other;
}

/** The violations that the service has accepted. */
async function taken() {
  const answer = await fetch(`${world.simulator.url}/simulator/violations`);
  return simulatorViolations.parse(await answer.json()).items;
}

const noSidewaysScrolling = async (page: Page) =>
  expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0);

test('a patrol reports a violation with two images on a phone in Arabic after aborting the first upload', async () => {
  const { violationForm: messages, terms, violations } = messagesIn('ar');
  const page = await browser.open({ language: 'ar', viewport: 'phone' });
  await world.signIn(page, 'dispatcher', '/violations');
  await page.getByRole('link', { name: violations.report }).click();
  await waitForPath(page, '/violations/new');
  await noSidewaysScrolling(page);
  await expectAccessible(page);

  await page.context().grantPermissions(['geolocation']);
  await page.context().setGeolocation({ latitude: 24.7, longitude: 46.6, accuracy: 12 });
  await fill(page, 'ar', { plateNumber: 'أ ب ح ١٢٣٥' });
  await page.getByRole('button', { name: messagesIn('ar').common.position.use }).click();
  await waitForText(page.locator('[data-locate-state]'), '12');
  await chooseImages(page, image('front.png', 1_500_000));
  await page.getByLabel(messages.camera).setInputFiles([image('camera.png', 2_500_000, 2)]);
  await waitForCount(page.locator('[data-previews] img'), 2);
  await expectAccessible(page);

  // 100 s for the whole upload, so that it is still running when the test aborts it.
  const endLimit = await limitUpload(page, 40_000);
  await submit(page);
  await eventually(async () => {
    expect(await page.evaluate('document.querySelector("progress").value')).toBeGreaterThan(0);
  });
  await waitForText(page.locator('[data-upload-progress]'), /\d+.* % .*MiB/);
  await expectAccessible(page);
  await page.getByRole('button', { name: messages.upload.abort }).click();
  await waitForText(page.locator('[data-upload-notice]'), messages.upload.aborted);
  expect(await taken()).toEqual([]);

  await endLimit();
  await submit(page);
  await waitForPath(page, PAGE_PATH);
  await waitForText(page.locator('#violation h1 + .badge'), terms.violationStates.accepted);
  await expectAccessible(page);
  await noSidewaysScrolling(page);
  const [violation] = await taken();
  expect(violation?.fields).toMatchObject({ plateNumber: 'أ ب ح ١٢٣٥', latitude: 24.7, longitude: 46.6 });
  expect(violation?.images.map(({ name, size }) => [name, size])).toEqual([
    ['front.png', 1_500_000],
    ['camera.png', 2_500_000],
  ]);
});

test('the violation form rejects too many bytes of images before it sends them', async () => {
  const page = await browser.open({ theme: 'dark' });
  await world.signIn(page, 'dispatcher', '/violations/new');
  await fill(page, 'en');
  await chooseImages(page, undecodable('a.heic', 6_000_000), undecodable('b.heic', 5_000_000));
  await waitForText(page.locator('[data-images-problem]'), /10\.5 MiB.*; at most .*9\.5 MiB/);
  await submit(page);
  expect(await focused(page).innerText()).toContain('Remove some');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Remove: a.heic' }).click();
  await waitForText(page.locator('[data-images-total]'), /Images: .*1.*4\.8 MiB/);
  await submit(page);
  await waitForPath(page, PAGE_PATH);
});

test('a refused violation form keeps its input and the selected images', async () => {
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', '/violations/new');
  await fill(page, 'en', { zoneId: 'north' });
  await chooseImages(page, image('a.png', 5000), image('b.png', 6000));
  browser.announce(page, { path: '/violations/new', status: 422 });
  await submit(page);
  await waitForText(page.getByRole('alert').first(), 'Zone: must be a UUID');
  expect(await focused(page).innerText()).toContain('Zone');
  await expectAccessible(page);
  expect([await valueOf(page, 'zoneId'), await valueOf(page, 'location')]).toEqual(['north', REQUIRED.location]);
  await waitForCount(page.locator('[data-previews] li'), 2);
  await waitUntilGone(page.locator('[data-files-lost]'));

  await page.locator('#report-zoneId').fill(REQUIRED.zoneId);
  await submit(page);
  await waitForPath(page, PAGE_PATH);
  await waitForText(page.locator('#violation'), 'Accepted');
  expect((await taken())[0]?.images).toHaveLength(2);
});

test('a violation form survives a sign-out when the user signs in again in another tab', async () => {
  const { upload } = messagesIn('en').violationForm;
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', '/violations/new');
  await fill(page, 'en');
  await chooseImages(page, image('a.png', 5000));
  const other = await signOutInAnotherTab(page);
  await submit(page);
  await waitForText(page.locator('[data-upload-notice]'), upload.signedOut);
  await world.signInByForm(other, 'dispatcher', '/lookups');
  browser.announce(page, { path: '/violations/new', status: 403 });
  await submit(page);
  await waitForText(page.locator('[data-upload-notice]'), upload.renewed);
  expect(await valueOf(page, 'location')).toBe(REQUIRED.location);
  await submit(page);
  await waitForPath(page, PAGE_PATH);
  await eventually(async () => expect((await taken())[0]?.images).toHaveLength(1));
});

test('a violation whose answer was lost is reported once although the user signs in again before sending it again', async () => {
  const { upload } = messagesIn('en').violationForm;
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', '/violations/new');
  await fill(page, 'en');
  const loseAnswer = async (route: Route) => {
    await route.fetch();
    await route.abort('connectionreset');
  };
  browser.announce(page, { path: '/violations/new', status: 'no answer' });
  await page.route('**/violations/new', loseAnswer, { times: 1 });
  await submit(page);
  await waitForText(page.locator('[data-upload-notice]'), upload.failed);
  const other = await signOutInAnotherTab(page);
  await world.signInByForm(other, 'dispatcher', '/lookups');
  browser.announce(page, { path: '/violations/new', status: 403 });

  await submit(page);
  await waitForText(page.locator('[data-upload-notice]'), upload.renewed);
  await submit(page);
  await waitForPath(page, PAGE_PATH);

  const reported = await api({ consoleUrl: world.at(''), apiKey: world.app.apiKey })
    .get('/api/violations')
    .expect(200);
  expect(pageOf(violationView).parse(reported.body).items).toHaveLength(1);
});

test('a violation form sent with a role that may not report says that it was refused, and keeps the input', async () => {
  const { upload } = messagesIn('en').violationForm;
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', '/violations/new');
  await fill(page, 'en');
  const other = await signOutInAnotherTab(page);
  await world.signInByForm(other, 'crew', '/lookups');
  browser.announce(page, { path: '/violations/new', status: 403 });
  await submit(page);
  await waitForText(page.locator('[data-upload-notice]'), upload.refused);
  expect(await valueOf(page, 'location')).toBe(REQUIRED.location);
  expect(await taken()).toEqual([]);
});

test('a dispatcher corrects a violation that the service refused, and the page shows the acceptance without a reload', async () => {
  await world.refuseOnce('violation');
  const app = { consoleUrl: world.at(''), apiKey: world.app.apiKey };
  const { id } = violationIn(await report(app, REQUIRED, [{ name: 'front.png', bytes: imageOf(900) }]));
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', `/violations/${id}`);
  await waitForText(page.locator('#violation .why'), 'The service refused the violation');
  await page.getByRole('img', { name: 'Image 1: front.png' }).waitFor();
  await expectAccessible(page);

  await page
    .locator('summary')
    .filter({ hasText: /^Correct and send again$/ })
    .click();
  await expectAccessible(page);
  await page.locator('#correct-location').fill('Somewhere else');
  await page.locator('#form-correct button[type=submit]').click();
  await waitForText(page.locator('.notice'), 'Decision saved.');
  await waitForText(page.locator('#violation h1 + .badge'), 'Accepted');
  await waitForText(page.locator('#images'), 'deleted when the violation was settled');
  expect((await taken())[0]?.fields).toMatchObject({ location: 'Somewhere else' });
});

test('a dispatcher replaces the images of a refused violation, and the service receives the new ones alone', async () => {
  await world.refuseOnce('violation');
  const app = { consoleUrl: world.at(''), apiKey: world.app.apiKey };
  const { id } = violationIn(await report(app, REQUIRED, [{ name: 'front.png', bytes: imageOf(900) }]));
  const page = await browser.open({ viewport: 'phone' });
  await world.signIn(page, 'dispatcher', `/violations/${id}`);
  await waitForText(page.locator('#violation .why'), 'The service refused the violation');
  await page
    .locator('summary')
    .filter({ hasText: /^Send with other images$/ })
    .click();
  await page.locator('#images-images').setInputFiles([image('smaller.png', 700)]);
  await waitForCount(page.locator('[data-previews] li'), 1);
  await expectAccessible(page);
  await noSidewaysScrolling(page);
  await page.locator('#form-images button[type=submit]').click();
  await waitForText(page.locator('.notice'), 'Decision saved.');
  await waitForText(page.locator('#violation h1 + .badge'), 'Accepted');
  await waitForText(page.locator('#images'), '1 earlier image was replaced.');
  expect((await taken())[0]?.images.map(({ name, size }) => [name, size])).toEqual([['smaller.png', 700]]);
});

test('a violation with an image is reported without JavaScript', async () => {
  const page = await browser.open({ javaScript: false, viewport: 'phone' });
  await world.signIn(page, 'dispatcher', '/violations/new');
  await fill(page, 'en', { zoneId: 'north' });
  await chooseImages(page, image('a.png', 5000));
  browser.announce(page, { path: '/violations/new', status: 422 });
  await submit(page);
  await waitForText(page.locator('[data-files-lost]'), 'Choose the images again');
  expect(await valueOf(page, 'location')).toBe(REQUIRED.location);
  await page.locator('#report-zoneId').fill(REQUIRED.zoneId);
  await chooseImages(page, image('a.png', 5000));
  await submit(page);
  await waitForPath(page, PAGE_PATH);
  await waitForText(page.locator('.notice'), 'The violation is saved');
  await eventually(async () => expect((await taken())[0]?.images).toHaveLength(1));
});

test('the violation list announces new violations without moving a row', async () => {
  const app = { consoleUrl: world.at(''), apiKey: world.app.apiKey };
  const viewer = await browser.open({ language: 'ar', theme: 'dark' });
  await world.signIn(viewer, 'viewer', '/violations');
  await waitForText(viewer.locator('.empty'), messagesIn('ar').violations.empty.none);
  await expectAccessible(viewer);

  const { id } = violationIn(await report(app));
  const page = await browser.open({ viewport: 'phone' });
  await world.signIn(page, 'crew', '/violations?q=abj');
  await waitForText(page.locator(`#violation-${id}`), 'Accepted');
  await report(app);
  await waitForText(page.locator('.list-line'), '1 new: show');
  await waitForCount(page.locator('.tow-row'), 1);
  await expectAccessible(page);
  await noSidewaysScrolling(page);
  await page.locator('.list-line a').click();
  await waitForCount(page.locator('.tow-row'), 2);
});
