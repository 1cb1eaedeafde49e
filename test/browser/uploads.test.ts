import type { Page, Route } from 'playwright-core';
import { messagesIn } from '../../src/console/messages';
import { simulatorViolations } from '../../src/contracts/service/simulator';
import { report, REQUIRED, violationIn } from '../operator/forms';
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
import { imageOf, PNG } from '../support/images';
import { forward, startProxy } from '../support/proxy';
import { useConsole } from './world';

/** Photos of a tow and other images of a violation, which are sent in the background like the report of a violation. */

const browser = useBrowser({ fastTimers: true });
const world = useConsole();
const { common, refusals, violationForm, violations, towDispatch } = messagesIn('en');
const { upload } = violationForm;

const fileOf = (name: string, buffer: Buffer = PNG) => ({ name, mimeType: 'image/png', buffer });
const notice = (page: Page) => page.locator('[data-upload-notice]');
const previews = (page: Page) => page.locator('[data-previews] li');
const unfold = (page: Page, label: string) =>
  page
    .locator('summary')
    .filter({ hasText: new RegExp(`^${label}$`) })
    .click();
const sendPhotos = (page: Page) => page.getByRole('button', { name: towDispatch.photos.send, exact: true }).click();
const sendImages = (page: Page) => page.locator('#form-images button[type=submit]').click();
const photosOf = async (ref: string) => (await world.tow(ref)).dispatch.photos.map(({ name }) => name);

/** Ends the session of a page, as 12 idle hours do. */
const endSession = (page: Page) => page.context().clearCookies();

/** Signs the user of a page in again, in another tab. */
async function signInElsewhere(page: Page): Promise<void> {
  const other = await page.context().newPage();
  await world.signInByForm(other, 'dispatcher', '/lookups');
  await other.close();
}

async function openWithPhotos(ref: string, proxy = world.at('')): Promise<Page> {
  const page = await browser.open();
  await world.signIn(page, 'dispatcher');
  await page.goto(`${proxy}/tows/${ref}`);
  await unfold(page, towDispatch.photos.add);
  await page.locator('#photos-images').setInputFiles([fileOf('front.png'), fileOf('back.png', imageOf(900))]);
  await waitForCount(previews(page), 2);
  return page;
}

/** The page of a violation that the service refused, with another image chosen. */
async function openWithImage(): Promise<{ page: Page; id: string }> {
  await world.refuseOnce('violation');
  const app = { consoleUrl: world.at(''), apiKey: world.app.apiKey };
  const { id } = violationIn(await report(app, REQUIRED, [{ name: 'front.png', bytes: imageOf(900) }]));
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', `/violations/${id}`);
  await waitForText(page.locator('#violation .why'), 'The service refused the violation');
  await unfold(page, violations.replaceImages.label);
  await page.locator('#images-images').setInputFiles([fileOf('smaller.png', imageOf(700))]);
  await waitForCount(previews(page), 1);
  return { page, id };
}

async function sentImages() {
  const answer = await fetch(`${world.simulator.url}/simulator/violations`);
  return simulatorViolations.parse(await answer.json()).items.map(({ images }) => images.map(({ name }) => name));
}

test('photos of a tow that were chosen before the session ended are sent after signing in again in another tab', async () => {
  const ref = await world.orderTow();
  const page = await openWithPhotos(ref);
  await endSession(page);
  await sendPhotos(page);
  await waitForText(notice(page), upload.signedOut);
  await expectAccessible(page);
  await signInElsewhere(page);
  browser.announce(page, { path: /\/photos$/, status: 403 });
  await sendPhotos(page);
  await waitForText(notice(page), upload.renewed);
  await waitForCount(previews(page), 2);
  expect(await photosOf(ref)).toEqual([]);

  await sendPhotos(page);
  await waitForText(page.locator('.notice'), common.done.saved);
  await page.getByAltText('Photo back.png').waitFor();
  expect(await photosOf(ref)).toEqual(['front.png', 'back.png']);
});

test('photos of a tow whose answer was lost are stored once', async () => {
  const ref = await world.orderTow();
  const page = await openWithPhotos(ref);
  browser.announce(page, { path: /\/photos$/, status: 'no answer' });
  const loseAnswer = async (route: Route) => {
    await route.fetch();
    await route.abort('connectionreset');
  };
  await page.route('**/photos', loseAnswer, { times: 1 });
  await sendPhotos(page);
  await waitForText(notice(page), upload.failed);
  await sendPhotos(page);
  await waitForText(page.locator('.notice'), common.done.saved);
  expect(await photosOf(ref)).toEqual(['front.png', 'back.png']);
});

test.each([
  [413, common.outcomes.tooLarge],
  [401, common.outcomes.refusedByProxy],
  [403, common.outcomes.refusedByProxy],
  [429, common.outcomes.refusedByProxy],
  [502, upload.uncertain],
  [504, upload.uncertain],
])('photos that a proxy answers with %i are kept, and the form shows what happened', async (status, text) => {
  // As nginx does: it answers at once, and still takes the rest of the body.
  const proxy = await startProxy((incoming, response) => {
    if (incoming.method !== 'POST') return forward(world.at(''), [incoming, response]);
    incoming.resume();
    response.writeHead(status, { 'content-type': 'text/html' }).end(`<h1>${status}</h1><hr><p>nginx</p>`);
  });
  const ref = await world.orderTow();
  const page = await openWithPhotos(ref, proxy);
  browser.announce(page, { path: /\/photos$/, status });
  await sendPhotos(page);
  await waitForText(notice(page), text);
  await waitForCount(previews(page), 2);
  expect(await photosOf(ref)).toEqual([]);
  await page.close();
});

test('refused photos of a tow are named by the form, which keeps them', async () => {
  const ref = await world.orderTow();
  const page = await openWithPhotos(ref);
  await page.locator('#photos-images').setInputFiles([fileOf('no-image.png', Buffer.from('text'))]);
  await waitForCount(previews(page), 3);
  browser.announce(page, { path: /\/photos$/, status: 422 });
  await sendPhotos(page);
  await waitForText(focused(page), `${common.image({ number: '3' })}:`);
  await waitForCount(previews(page), 3);
  await waitUntilGone(page.locator('[data-files-lost]'));
  await expectAccessible(page);

  await page.getByRole('button', { name: `${violationForm.remove}: no-image.png` }).click();
  await sendPhotos(page);
  await waitForText(page.locator('.notice'), common.done.saved);
  expect(await photosOf(ref)).toEqual(['front.png', 'back.png']);
});

test('other images of a violation that were chosen before the session ended are sent after signing in again', async () => {
  const { page } = await openWithImage();
  await endSession(page);
  await sendImages(page);
  await waitForText(notice(page), upload.signedOut);
  await signInElsewhere(page);
  browser.announce(page, { path: /\/images$/, status: 403 });
  await sendImages(page);
  await waitForText(notice(page), upload.renewed);
  await sendImages(page);
  await waitForPath(page, /^\/violations\/[0-9a-f-]+$/);
  await waitForText(page.locator('.notice'), common.done.decided);
  await eventually(async () => expect(await sentImages()).toEqual([['smaller.png']]));
});

test('other images for a violation that was decided meanwhile are refused although the user signs in again', async () => {
  const { page, id } = await openWithImage();
  await endSession(page);
  await world.refuseOnce('violation');
  await world.call('POST', `/violations/${id}/correct`, { location: 'Elsewhere' });
  await eventually(async () => expect(await world.callsOf('violation')).toHaveLength(2));
  await eventually(async () => expect(await world.tasks()).toHaveLength(1));
  await signInElsewhere(page);
  for (const status of [403, 409]) browser.announce(page, { path: /\/images$/, status });
  await sendImages(page);
  await waitForText(notice(page), upload.renewed);
  await sendImages(page);
  await waitForText(focused(page), refusals.asked_no_more);
  await waitForCount(previews(page), 1);
  expect(await world.callsOf('violation')).toHaveLength(2);

  await sendImages(page);
  await waitForText(page.locator('.notice'), common.done.decided);
  await eventually(async () => expect(await sentImages()).toEqual([['smaller.png']]));
});

test('other images for a violation that is settled by now show the reason in place of the form', async () => {
  const { page, id } = await openWithImage();
  await world.call('POST', `/violations/${id}/waive`, { reason: 'given up' });
  browser.announce(page, { path: /\/images$/, status: 409 });
  await sendImages(page);
  await waitForText(focused(page), refusals.violation_settled);
  expect(await page.locator('#form-images input').count()).toBe(0);
});
