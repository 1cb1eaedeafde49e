import { visitWith, type TestBrowser } from './browser';

/**
 * Tests in a real headless Chromium. How to write one:
 *
 *     const browser = useBrowser();    // First: its pages close before their world ends. One Chromium per jest worker.
 *     const world = useConsole();      // test/browser/world.ts: console, service, workers, keys; new for each test.
 *
 *     test('a crew starts a tow on a phone', async () => {
 *       const page = await browser.open({ language: 'ar', viewport: 'phone', theme: 'dark' });
 *       await world.signIn(page, 'crew');
 *       await page.goto(world.at('/board'));
 *       await page.getByRole('button', { name: 'Start' }).click();  // Roles and names, as people find things.
 *       await waitForText(page.getByRole('status'), 'started');     // Never a pause: waiting.ts, or `eventually`.
 *       await expectAccessible(page);                               // On every page, in every state worth a look.
 *     });
 *
 * A test fails at its end for: a console error or warning, a page error, a breach of the Content-Security-Policy, a
 * request without an answer or answered 4xx/5xx, a request to anything but 127.0.0.1 (which cannot leave anyhow), a
 * dialog. Say beforehand what must go wrong: `browser.announce(page, { path: '/sign-in', status: 422 })`; it must then
 * happen. `open` makes a new visitor without cookies each time; `page.context().newPage()` is a second tab of the same.
 * In `page.evaluate` write the code as text: it runs in the browser, whose types the project does not know. Without
 * JavaScript (`open({ javaScript: false })`) neither promises, axe nor `screenshot` work in the page.
 * The first test that needs a browser fetches it, if the machine has none (find-chromium.ts); others never do.
 */
export function useBrowser(): Pick<TestBrowser, 'open' | 'announce' | 'processId'> {
  let browser: TestBrowser | undefined;
  const current = (): TestBrowser => {
    if (browser === undefined) throw new Error('the browser of useBrowser() runs only while tests run');
    return browser;
  };
  beforeAll(async () => {
    browser = visitWith(await workerResources.chromium());
  }, FETCH_TIMEOUT_MS);
  afterEach(async () => {
    const faults = await current().leave();
    if (faults.length > 0) throw new Error(`in the browser:\n${faults.map((fault) => `- ${fault}`).join('\n')}`);
  });
  return {
    open: (visitor) => current().open(visitor),
    announce: (page, announcement) => current().announce(page, announcement),
    get processId() {
      return current().processId;
    },
  };
}

/** Longer than fetching a browser may take, and waiting for another process that does. */
const FETCH_TIMEOUT_MS = 20 * 60_000;

export { expectAccessible } from './accessible';
export { startBrowser, type TestBrowser, type Visitor } from './browser';
export { screenshot } from './screenshot';
export { transferSize } from './transfer';
export { focused, waitForCount, waitForPath, waitForText, waitUntilGone } from './waiting';
