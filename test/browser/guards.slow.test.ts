import type { Page } from 'playwright-core';
import { useBrowser } from '../support/browser';
import { visitWith, type TestBrowser } from '../support/browser/browser';
import { useSmallSite } from './small-site';

const SCRIPTS: Readonly<Record<string, string>> = {
  nothing: '',
  error: 'console.error("it broke")',
  warning: 'console.warn("it may break")',
  throw: 'throw new Error("thrown in the page")',
  reject: 'Promise.reject(new Error("rejected in the page"))',
  ask: 'confirm("really?")',
  live: 'new EventSource("/stream")',
  refresh:
    'setInterval(() => fetch("/refreshed").catch(() => console.error("htmx:sendError, [object HTMLDivElement]")), 50)',
};

const site = useSmallSite(
  {
    '/clean': '<p>No fault.</p><script src="/nothing.js"></script>',
    '/says-error': '<script src="/error.js"></script>',
    '/says-warning': '<script src="/warning.js"></script>',
    '/throws': '<script src="/throw.js"></script>',
    '/rejects': '<script src="/reject.js"></script>',
    '/inline-style': '<p style="color: red">red</p>',
    '/inline-script': '<script>1</script>',
    '/foreign-picture': '<img alt="" src="http://example.com/a.png">',
    '/lost-picture': '<img alt="" src="/lost.png">',
    '/cut': '<img alt="" src="/cut.png">',
    '/leads-away': '<a href="http://example.com/">away</a>',
    '/pops-up': '<a target="_blank" href="/says-error">up</a>',
    '/asks': '<script src="/ask.js"></script>',
    '/live': '<script src="/live.js"></script>',
    '/refreshes': '<script src="/refresh.js"></script>',
    '/refreshed': '<p>Fresh.</p>',
  },
  (app) => {
    for (const [name, text] of Object.entries(SCRIPTS)) {
      app.get(`/${name}.js`, (_request, response) => response.type('js').send(text));
    }
    app.get('/cut.png', (_request, response) => response.destroy());
    app.get('/stream', (_request, response) => {
      response.type('text/event-stream').write('data: 1\n\n');
    });
  },
);

let browser: TestBrowser;

beforeAll(async () => {
  browser = visitWith(await workerResources.chromium());
});

afterEach(() => browser.leave());

const visit = async (path: string): Promise<Page> => {
  const page = await browser.open();
  await page.goto(site.at(path));
  return page;
};

const visitWithoutJavaScript = async () => {
  const page = await browser.open({ javaScript: false });
  await page.goto(site.at('/inline-style'));
};

const followLinkOutside = async () => {
  const page = await visit('/leads-away');
  await page.getByText('away').click();
  await page.waitForURL('chrome-error://**');
};

const visitNumericAddress = async () => {
  const page = await browser.open();
  await page.goto('http://192.0.2.1/').catch(() => {});
};

const openPopup = async () => {
  const page = await visit('/pops-up');
  const opened = page.waitForEvent('popup');
  await page.getByText('up').click();
  await opened;
};

const announceInVain = async () => {
  const page = await visit('/clean');
  browser.announce(page, { path: '/missing', status: 404 });
};

const leaveLivePage = async () => {
  const page = await browser.open();
  const stream = page.waitForResponse(site.at('/stream'));
  await page.goto(site.at('/live'));
  await stream;
  await page.goto(site.at('/clean'));
};

const announceAndFail = async () => {
  const page = await browser.open();
  browser.announce(page, { path: '/missing', status: 404 });
  browser.announce(page, { path: '/cut.png', status: 'no answer' });
  await page.goto(site.at('/missing?a=1'));
  await page.goto(site.at('/cut'));
};

const refreshOffline = async () => {
  const page = await visit('/refreshes');
  const failed = page.waitForEvent('requestfailed');
  const logged = page.waitForEvent('console', (message) => message.text().startsWith('htmx:sendError'));
  await page.context().setOffline(true);
  await Promise.all([failed, logged]);
};

const refreshUnanswered = async () => {
  const page = await visit('/clean');
  await page.route('**/refreshed', (route) => route.abort('connectionrefused'));
  const logged = page.waitForEvent('console', (message) => message.text().startsWith('htmx:sendError'));
  await page.goto(site.at('/refreshes'));
  await logged;
};

test.each<[string, string, () => Promise<unknown>]>([
  ['a console error', 'console error: it broke', () => visit('/says-error')],
  ['a console warning', 'console warning: it may break', () => visit('/says-warning')],
  ['an exception in a page', 'page error: Error: thrown in the page', () => visit('/throws')],
  ['an unhandled rejection in a page', 'page error: Error: rejected in the page', () => visit('/rejects')],
  ['an inline style', 'Content-Security-Policy violation: Applying inline style', () => visit('/inline-style')],
  ['an inline script', 'Content-Security-Policy violation: Executing inline script', () => visit('/inline-script')],
  ['an image of another host', 'Content-Security-Policy violation: Loading the image', () => visit('/foreign-picture')],
  [
    'an inline style without JavaScript',
    'Content-Security-Policy violation: Applying inline style',
    visitWithoutJavaScript,
  ],
  ['an image that is not found', '/lost.png was answered 404', () => visit('/lost-picture')],
  ['a page that is not found', '/missing was answered 404', () => visit('/missing')],
  ['an image without a response', '/cut.png failed: net::ERR_EMPTY_RESPONSE', () => visit('/cut')],
  ['a link to another host', 'a request outside: GET http://example.com/', followLinkOutside],
  [
    'a numeric address of another host',
    'GET http://192.0.2.1/ failed: net::ERR_NAME_NOT_RESOLVED',
    visitNumericAddress,
  ],
  ['a dialog', 'a dialog (confirm) opened: really?', () => visit('/asks')],
  ['a console error of a popup', 'console error: it broke', openPopup],
  ['a refresh without a response', 'console error: htmx:sendError', refreshUnanswered],
  ['an announced failure that did not happen', 'announced and did not happen: /missing 404', announceInVain],
])('the test browser reports %s as a fault: %s', async (_name, fault, scenario) => {
  await scenario();
  expect(await browser.leave()).toContainEqual(expect.stringContaining(fault));
});

test.each<[string, () => Promise<unknown>]>([
  ['a page without faults', () => visit('/clean')],
  ['a page with an open stream', () => visit('/live')],
  ['a page with a stream that is left for another page', leaveLivePage],
  ['failures that were announced', announceAndFail],
  ['requests of a page that its test keeps offline', refreshOffline],
])('the test browser reports no fault for %s', async (_name, scenario) => {
  await scenario();
  expect(await browser.leave()).toEqual([]);
});

describe('useBrowser', () => {
  const { used, afterEachTest } = useBrowserWithoutItsHook();

  test('the test browser fails a test at its end with the faults of its pages', async () => {
    await (await used.open()).goto(site.at('/says-error'));
    await expect(afterEachTest()).rejects.toThrow('in the browser:\n- console error: it broke');
  });

  test('the test browser passes a test whose pages have no faults', async () => {
    await (await used.open()).goto(site.at('/clean'));
    await expect(afterEachTest()).resolves.toBeUndefined();
  });
});

/** Calls `useBrowser` and returns the hook that it would run after each test, so that a test can call the hook itself. */
function useBrowserWithoutItsHook() {
  const hooks: jest.ProvidesHookCallback[] = [];
  const declare = jest.spyOn(globalThis, 'afterEach').mockImplementation((hook) => void hooks.push(hook));
  const used = useBrowser();
  declare.mockRestore();
  const done = Object.assign(() => {}, { fail: () => {} });
  const afterEachTest = async (): Promise<void> => {
    for (const hook of hooks) await hook(done);
  };
  return { used, afterEachTest };
}
