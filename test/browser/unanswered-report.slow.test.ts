import type { Page } from 'playwright-core';
import { messagesIn } from '../../src/console/messages';
import { page as pageOf } from '../../src/contracts/paging';
import { violationView } from '../../src/contracts/violation/violations';
import { useBrowser, waitForPath, waitForText } from '../support/browser';
import { forward, startProxy } from '../support/proxy';
import { REQUIRED } from '../operator/forms';
import { fillReport } from './report-form';
import { useConsole } from './world';

const browser = useBrowser();
const world = useConsole();

const { upload } = messagesIn('en').violationForm;
const PATH = '/violations/new';
const PAGE_PATH = /^\/violations\/[0-9a-f-]{36}$/;
const submitOf = (page: Page) => page.locator('#report-form button[type=submit]');
const notice = (page: Page) => page.locator('[data-upload-notice]');
/** Sets how long the page waits for the answer after its upload, ms. */
const waitAtMost = (page: Page, limitMs: number) =>
  page.evaluate(`document.querySelector('[data-upload]').dataset.answerMs = ${limitMs}`);

/** Starts a proxy that passes on all reports of violations and never answers the first one. */
async function loseFirstAnswer(): Promise<{ url: string; keys: () => readonly string[] }> {
  const bodies: Buffer[][] = [];
  const url = await startProxy((incoming, response) => {
    const isReport = incoming.method === 'POST' && incoming.url === PATH;
    if (!isReport) return forward(world.at(''), [incoming, response]);
    const body: Buffer[] = [];
    bodies.push(body);
    incoming.on('data', (bytes: Buffer) => body.push(bytes));
    const never = new Promise<never>(() => {});
    forward(world.at(''), [incoming, response], bodies.length === 1 ? never : null);
  });
  const keyIn = (body: readonly Buffer[]) =>
    /name="form_key"\r\n\r\n([^\r]+)/.exec(Buffer.concat(body).toString('latin1'))?.[1] ?? 'no key';
  return { url, keys: () => bodies.map(keyIn) };
}

test('a violation form whose upload took too long shows that and no refusal, and can be sent again', async () => {
  const page = await browser.open();
  await world.signIn(page, 'dispatcher', PATH);
  await fillReport(page);
  browser.announce(page, { path: PATH, status: 408 });
  await page.route(`**${PATH}`, (route) => route.fulfill({ status: 408 }), { times: 1 });
  await submitOf(page).click();
  await waitForText(notice(page), upload.tooSlow);
  expect(await page.locator('#report-location').inputValue()).toBe(REQUIRED.location);

  await submitOf(page).click();
  await waitForPath(page, PAGE_PATH);
});

test('a violation form whose answer never comes can be sent again after its time limit, and is reported once', async () => {
  const { url, keys } = await loseFirstAnswer();
  const page = await browser.open();
  await world.signIn(page, 'dispatcher');
  await page.goto(`${url}${PATH}`);
  await fillReport(page);
  await waitAtMost(page, 200);
  await submitOf(page).click();
  await waitForText(notice(page), upload.uncertain);
  expect(await submitOf(page).isEnabled()).toBe(true);

  await waitAtMost(page, 60_000);
  await submitOf(page).click();
  await waitForPath(page, PAGE_PATH);

  const [first, ...others] = keys();
  expect(first).toMatch(/^[\w-]{20,}$/);
  expect(others).toEqual([first]);
  const reported: unknown = await (await world.call('GET', '/violations')).json();
  expect(pageOf(violationView).parse(reported).items).toHaveLength(1);
  // Before the proxy ends, which would cut the page's stream of events.
  await page.close();
});
