import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium, type RunningChromium } from './chromium';
import { watch, type Announcement, type Guards } from './guards';

/** The settings of the browser that opens a page. */
export interface BrowserVisitor {
  /** Sent as `Accept-Language`. Default: `en`. */
  readonly language?: 'en' | 'ar';
  /** Default: `desk`. */
  readonly viewport?: 'desk' | 'phone';
  /** The colour scheme that the system prefers. Default: `light`. */
  readonly theme?: 'light' | 'dark';
  /** Default: true. */
  readonly javaScript?: boolean;
  /**
   * Timers that the page sets by `setTimeout` end after a tenth of their time, so that a live page refreshes after 0.1 s
   * and not after 1 s. Default: false.
   */
  readonly fastTimers?: boolean;
  readonly cookies?: readonly Cookie[];
}

export interface Cookie {
  readonly name: string;
  readonly value: string;
  /** The address that the cookie is sent to. */
  readonly url: string;
}

/** Pages in one headless browser. The caller of `startBrowser` closes it. */
export interface TestBrowser {
  readonly processId: number;
  /** Opens a page in a new context without cookies or cache. Guards watch every page of the context. */
  open(visitor?: BrowserVisitor): Promise<Page>;
  /** Allows one kind of failed request on a page. It is a fault if the request does not fail that way. */
  announce(page: Page, announcement: Announcement): void;
  /** Closes all open pages and returns their faults as sentences. */
  leave(): Promise<readonly string[]>;
  close(): Promise<void>;
}

const LOCALES = { en: 'en-GB', ar: 'ar-SA' } as const;
const VIEWPORTS = {
  desk: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
} as const;
/** Shorter than the limit of a test, so that the error names what the test waited for. */
const WAIT_MS = 60_000;
/** The wait for a page that is still loading at the end of its test. A page that never finishes loading is no fault. */
const SETTLE_MS = 30_000;
const FAST_TIMERS = `(() => {
  const setRealTimeout = globalThis.setTimeout;
  globalThis.setTimeout = (callback, ms = 0, ...values) => setRealTimeout(callback, ms / 10, ...values);
})()`;

/** Starts a browser process for this caller only. */
export async function startBrowser(): Promise<TestBrowser> {
  return visitWith(await launchChromium());
}

/** Opens pages in a running browser; `close` ends the browser. */
export function visitWith(launched: RunningChromium): TestBrowser {
  const visits = new Map<BrowserContext, Guards>();
  return {
    processId: launched.processId,
    async open({ cookies = [], fastTimers = false, ...visitor } = {}) {
      const context = await launched.browser.newContext(settingsOf(visitor));
      context.setDefaultTimeout(WAIT_MS);
      visits.set(context, watch(context));
      if (fastTimers) await context.addInitScript(FAST_TIMERS);
      await context.addCookies([...cookies]);
      return context.newPage();
    },
    announce(page, announcement) {
      const guards = visits.get(page.context());
      if (guards === undefined) throw new Error('this page was opened by another browser, or is closed');
      guards.announce(announcement);
    },
    async leave() {
      const left = [...visits];
      visits.clear();
      const faults = await Promise.all(
        left.map(async ([context, guards]) => {
          await Promise.all(context.pages().map(settle));
          await context.close();
          return guards.faults();
        }),
      );
      return faults.flat();
    },
    close: () => launched.close(),
  };
}

/** Browser events arrive in order: once the title is here, all events of the page before it are here too. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('load', { timeout: SETTLE_MS }).catch(() => {});
  await page.title().catch(() => '');
}

function settingsOf({
  language = 'en',
  viewport = 'desk',
  theme = 'light',
  javaScript = true,
}: BrowserVisitor): BrowserContextOptions {
  return {
    ...VIEWPORTS[viewport],
    locale: LOCALES[language],
    colorScheme: theme,
    javaScriptEnabled: javaScript,
    // Not the zone of Riyadh: pages must not take the time of Riyadh from the device.
    timezoneId: 'America/New_York',
    // Animations would make positions and colours depend on the time of the check.
    reducedMotion: 'reduce',
  };
}
