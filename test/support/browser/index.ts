import { visitWith, type TestBrowser, type BrowserVisitor } from './browser';

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
 *       await page.getByRole('button', { name: 'Start' }).click();  // Find elements by role and name.
 *       await waitForText(page.getByRole('status'), 'started');     // Never a fixed pause: waiting.ts or `eventually`.
 *       await expectAccessible(page);                               // On every page, in every state that differs.
 *     });
 *
 * A test fails at its end for: a console error or warning, a page error, a breach of the Content-Security-Policy, a
 * request without a response or with a response 4xx or 5xx, a request to a host other than 127.0.0.1 (which the browser
 * cannot reach), a dialog. Announce a failure that the test expects: `browser.announce(page, { path: '/sign-in', status:
 * 422 })`; the test then fails if it does not happen. Requests that fail because the test keeps its page offline by
 * `setOffline` are none. Each `open` makes a new visitor without cookies;
 * `page.context().newPage()` is a second tab of the same visitor. Pass code to `page.evaluate` as text: it runs in the
 * browser, and the project has no types of the browser. The text is an expression, and `locator.evaluate` does not take
 * it. Without JavaScript (`open({ javaScript: false })`) promises, axe and `screenshot` do not work in the page. The
 * first test that needs a browser installs it if the machine has none (find-chromium.ts). `defaults` apply to every
 * `open` of the file.
 */
export function useBrowser(
  defaults: Pick<BrowserVisitor, 'fastTimers'> = {},
): Pick<TestBrowser, 'open' | 'announce' | 'processId'> {
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
    open: (visitor) => current().open({ ...defaults, ...visitor }),
    announce: (page, announcement) => current().announce(page, announcement),
    get processId() {
      return current().processId;
    },
  };
}

/** Longer than the installation of a browser by this process or another one. */
const FETCH_TIMEOUT_MS = 20 * 60_000;

export { expectAccessible } from './accessible';
export { startBrowser, type TestBrowser, type BrowserVisitor } from './browser';
export { screenshot } from './screenshot';
export { transferSize } from './transfer';
export { focused, waitForCount, waitForPath, waitForText, waitUntilGone } from './waiting';
