import type { Child } from 'hono/jsx';
import type { Assets } from './assets';
import { PAGE_ENTRIES, PAGES } from './page-table';
import { Notice, OpenTasks, ModeBanner, ShortcutSheet } from './parts/navigation';
import { PostForm } from './parts/form';
import { THEMES, type Viewer } from './viewer';

/** htmx obeys the Content-Security-Policy and keeps no pages in the browser. */
const HTMX_CONFIG = JSON.stringify({
  allowEval: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
  refreshOnHistoryMiss: true,
  responseHandling: [
    { code: '204', swap: false },
    { code: '[23]..', swap: true },
    { code: '4(?:09|22)', swap: true },
    { code: '[45]..', swap: false, error: true },
  ],
});

/** The document around every page: head, header with navigation and preferences, shortcut sheet. */
export function Layout(props: {
  readonly viewer: Viewer;
  readonly title: string;
  readonly assets: Assets;
  /** Styles and scripts of this page alone. */
  readonly also: readonly string[];
  readonly isShownOnce: boolean;
  readonly children: Child;
}) {
  const { viewer, title, assets, also, isShownOnce, children } = props;
  const { messages, language, theme } = viewer;
  const isSignedIn = viewer.actor !== null;
  return (
    <html lang={language} dir={language === 'ar' ? 'rtl' : 'ltr'} data-theme={theme}>
      <head>
        <meta charset="utf-8" />
        <title>{`${title} · ${messages.common.product}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content={theme === 'auto' ? 'light dark' : theme} />
        <meta name="referrer" content="same-origin" />
        <meta name="htmx-config" content={HTMX_CONFIG} />
        <link rel="icon" type="image/svg+xml" href={assets.url('icon.svg')} />
        <link rel="stylesheet" href={assets.url('console.css')} />
        {isWithin(viewer.here, PAGES.ops.path) && <link rel="stylesheet" href={assets.url('ops.css')} />}
        {also.filter(isStyle).map((name) => (
          <link rel="stylesheet" href={assets.url(name)} />
        ))}
        <script src={assets.url('htmx.js')} defer />
        <script src={assets.url('idiomorph.js')} defer />
        {also.filter(isLibraryScript).map((name) => (
          <script src={assets.url(name)} defer />
        ))}
        <script type="module" src={assets.url('main.js')} />
        {also.filter(isOwnScript).map((name) => (
          <script type="module" src={assets.url(name)} />
        ))}
      </head>
      <body
        hx-ext="morph"
        data-live-states={[messages.common.live, messages.common.livePaused, messages.common.liveLost].join('|')}
        data-not-sent={messages.common.outcomes.notSent}
        data-uncertain={messages.common.outcomes.uncertain}
        data-too-large={messages.common.outcomes.tooLarge}
        data-refused-by-proxy={messages.common.outcomes.refusedByProxy}
        {...(viewer.status === null ? {} : { 'data-live': `/api/events?after=${viewer.status.cursor}` })}
        {...(viewer.hasShortcuts ? { 'data-shortcuts': 'on' } : {})}
      >
        <a class="skip" href="#content">
          {messages.common.skip}
        </a>
        <header class="top">
          <a class="brand" href="/board">
            <img src={assets.url('icon.svg')} alt="" width="24" height="24" />
            <span>{messages.common.product}</span>
          </a>
          {isSignedIn && <Navigation viewer={viewer} />}
          <span class="live-state" role="status" data-live-state />
          <Preferences viewer={viewer} isShownOnce={isShownOnce} />
        </header>
        {viewer.status !== null && <ModeBanner viewer={viewer} status={viewer.status} />}
        <main id="content" tabindex={-1}>
          {viewer.done !== null && <Notice viewer={viewer}>{messages.common.done[viewer.done]}</Notice>}
          {children}
        </main>
        <ShortcutSheet viewer={viewer} />
      </body>
    </html>
  );
}

const LIBRARY_SCRIPTS = ['uplot.js'];
const isStyle = (name: string) => name.endsWith('.css');
const isLibraryScript = (name: string) => LIBRARY_SCRIPTS.includes(name);
const isOwnScript = (name: string) => name.endsWith('.js') && !isLibraryScript(name);

function Navigation({ viewer }: { readonly viewer: Viewer }) {
  const { common } = viewer.messages;
  return (
    <nav aria-label={common.navigation}>
      <ul>
        {PAGE_ENTRIES.map(
          ({ path, header, shortcut }) =>
            header !== undefined && (
              <li>
                <a
                  href={path}
                  data-hotkey={shortcut}
                  {...(isWithin(viewer.here, path) ? { 'aria-current': 'page' } : {})}
                >
                  {common[header]}
                  {path === PAGES.tasks.path && viewer.status !== null && <OpenTasks viewer={viewer} />}
                </a>
              </li>
            ),
        )}
      </ul>
    </nav>
  );
}

/** True for a page and the pages below it. A tow belongs to the board. */
function isWithin(here: string, address: string): boolean {
  const [path = ''] = here.split('?');
  const home = path.startsWith('/tows/') ? PAGES.board.path : path;
  return home === address || home.startsWith(`${address}/`);
}

/** Language, theme, shortcuts and signing out: in the header, and behind a menu button on a phone. */
function Preferences({ viewer, isShownOnce }: { readonly viewer: Viewer; readonly isShownOnce: boolean }) {
  const { messages, actor } = viewer;
  const { common } = messages;
  return (
    <details class="menu fold">
      <summary class="quiet" aria-label={common.menu} title={common.menu}>
        <span aria-hidden="true">☰</span>
      </summary>
      <div class="preferences">
        {!isShownOnce && <LanguageAndTheme viewer={viewer} />}
        <a class="quiet icon" href="/shortcuts" data-sheet title={common.shortcuts} aria-label={common.shortcuts}>
          <span aria-hidden="true">?</span>
        </a>
        {actor !== null && (
          <PostForm viewer={viewer} action="/sign-out" class="inline">
            <span class="who">{common.signedInAs({ name: actor.name, role: messages.terms.roles[actor.role] })}</span>
            <button class="quiet">{common.signOut}</button>
          </PostForm>
        )}
      </div>
    </details>
  );
}

/** Changes of language and theme load the page again. */
function LanguageAndTheme({ viewer }: { readonly viewer: Viewer }) {
  const { messages, language, theme } = viewer;
  const { common } = messages;
  return (
    <>
      <PostForm viewer={viewer} action="/preferences" class="inline">
        <button
          class="quiet"
          name="language"
          value={language === 'ar' ? 'en' : 'ar'}
          lang={language === 'ar' ? 'en' : 'ar'}
        >
          {common.otherLanguage}
        </button>
      </PostForm>
      <details class="menu">
        <summary class="quiet" aria-label={common.theme} title={common.theme}>
          <span aria-hidden="true">◐</span>
        </summary>
        <PostForm viewer={viewer} action="/preferences" class="menu-body">
          {THEMES.map((each) => (
            <button class="quiet" name="theme" value={each} aria-pressed={each === theme ? 'true' : 'false'}>
              {common.themes[each]}
            </button>
          ))}
        </PostForm>
      </details>
    </>
  );
}
