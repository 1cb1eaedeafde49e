import { useBrowser } from '../support/browser';
import { useSmallSite } from './small-site';

/**
 * Tests that must fail, one for each guard, and some that must pass. Not part of the tests by itself: guards.test.ts runs
 * it and looks at what became of each.
 */

const browser = useBrowser();
const site = useSmallSite(
  {
    '/clean': '<p>All is well.</p><script src="/nothing.js"></script>',
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
  },
  (app) => {
    const scripts = {
      nothing: '',
      error: 'console.error("it broke")',
      warning: 'console.warn("it may break")',
      throw: 'throw new Error("thrown in the page")',
      reject: 'Promise.reject(new Error("rejected in the page"))',
      ask: 'confirm("really?")',
      live: 'new EventSource("/stream")',
    };
    for (const [name, text] of Object.entries(scripts)) {
      app.get(`/${name}.js`, (_request, response) => response.type('js').send(text));
    }
    app.get('/cut.png', (_request, response) => response.destroy());
    app.get('/stream', (_request, response) => {
      response.type('text/event-stream').write('data: 1\n\n');
    });
  },
);

const visit = async (path: string) => {
  const page = await browser.open();
  await page.goto(site.at(path));
  return page;
};

test.each([
  '/clean',
  '/says-error',
  '/says-warning',
  '/throws',
  '/rejects',
  '/inline-style',
  '/inline-script',
  '/foreign-picture',
  '/lost-picture',
  '/cut',
  '/missing',
  '/asks',
  '/live',
])('%s', async (path) => {
  await visit(path);
});

test('without JavaScript', async () => {
  const page = await browser.open({ javaScript: false });
  await page.goto(site.at('/inline-style'));
});

test('a link outside', async () => {
  const page = await visit('/leads-away');
  await page.getByText('away').click();
  await page.waitForURL('chrome-error://**');
});

test('an address outside by number', async () => {
  const page = await browser.open();
  await page.goto('http://192.0.2.1/').catch(() => {});
});

test('a popup', async () => {
  const page = await visit('/pops-up');
  const opened = page.waitForEvent('popup');
  await page.getByText('up').click();
  await opened;
});

test('leaving a live page', async () => {
  const page = await browser.open();
  const stream = page.waitForResponse(site.at('/stream'));
  await page.goto(site.at('/live'));
  await stream;
  await page.goto(site.at('/clean'));
});

test('announced', async () => {
  const page = await browser.open();
  browser.announce(page, { path: '/missing', status: 404 });
  browser.announce(page, { path: '/cut.png', status: 'no answer' });
  await page.goto(site.at('/missing?a=1'));
  await page.goto(site.at('/cut'));
});

test('announced in vain', async () => {
  const page = await visit('/clean');
  browser.announce(page, { path: '/missing', status: 404 });
});
