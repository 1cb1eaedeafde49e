import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium, type RunningChromium } from './chromium';
import { watch, type Announcement, type Guards } from './guards';

/** Who looks at a page, and on what. */
export interface Visitor {
  /** What the browser asks for (`Accept-Language`); `en` unless told. */
  readonly language?: 'en' | 'ar';
  /** `desk` unless told. */
  readonly viewport?: 'desk' | 'phone';
  /** What the system of the visitor prefers; `light` unless told. */
  readonly theme?: 'light' | 'dark';
  /** `false`: pages must do with links and forms. */
  readonly javaScript?: boolean;
  readonly cookies?: readonly Cookie[];
}

export interface Cookie {
  readonly name: string;
  readonly value: string;
  /** The address it belongs to. */
  readonly url: string;
}

/** Pages in one headless browser. The caller of `startBrowser` closes it. */
export interface TestBrowser {
  readonly processId: number;
  /** Opens a page in a new context without cookies or cache. Guards watch every page of the context. */
  open(visitor?: Visitor): Promise<Page>;
  /** Says that a page will meet an answer of 4xx or 5xx, or none; it must then happen. */
  announce(page: Page, announcement: Announcement): void;
  /** Closes every open page; returns what happened in them and must not. */
  leave(): Promise<readonly string[]>;
  close(): Promise<void>;
}

const LOCALES = { en: 'en-GB', ar: 'ar-SA' } as const;
const VIEWPORTS = {
  desk: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
} as const;
/** Shorter than a test may take, so that the test says what it waited for. */
const WAIT_MS = 10_000;
/** What a page still loads when its test is over could be a fault; a page that never ends loading is none. */
const SETTLE_MS = 2000;

/** Starts a browser of its own. */
export async function startBrowser(): Promise<TestBrowser> {
  return visitWith(await launchChromium());
}

/** Opens pages in a browser that is already running; `close` ends it. */
export function visitWith(launched: RunningChromium): TestBrowser {
  const visits = new Map<BrowserContext, Guards>();
  return {
    processId: launched.processId,
    async open({ cookies = [], ...visitor } = {}) {
      const context = await launched.browser.newContext(settingsOf(visitor));
      context.setDefaultTimeout(WAIT_MS);
      visits.set(context, watch(context));
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

/** What the browser has to say about a page arrives in order: with the answer to a question all before it is here. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('load', { timeout: SETTLE_MS }).catch(() => {});
  await page.title().catch(() => '');
}

function settingsOf({
  language = 'en',
  viewport = 'desk',
  theme = 'light',
  javaScript = true,
}: Visitor): BrowserContextOptions {
  return {
    ...VIEWPORTS[viewport],
    locale: LOCALES[language],
    colorScheme: theme,
    javaScriptEnabled: javaScript,
    // Nobody in Riyadh: what shows Riyadh's time must not take it from the machine.
    timezoneId: 'America/New_York',
    // Nothing is looked at halfway through a movement.
    reducedMotion: 'reduce',
  };
}
