import type { Child } from 'hono/jsx';
import type { Assets } from './assets';
import { Notice } from './parts/notice';
import { OpenTasks } from './parts/open-tasks';
import { PostForm } from './parts/form';
import { ShortcutSheet } from './parts/shortcut-sheet';
import { THEMES, type Viewer } from './viewer';

/** htmx may do nothing that the Content-Security-Policy would stop, and keeps no copy of a page in the browser. */
const HTMX_CONFIG = JSON.stringify({
  allowEval: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
  refreshOnHistoryMiss: true,
  responseHandling: [
    { code: '204', swap: false },
    { code: '[23]..', swap: true },
    { code: '4(?:0[139]|22)', swap: true },
    { code: '[45]..', swap: false, error: true },
  ],
});

/** What surrounds every page: head, navigation, preferences. */
export function Layout(props: {
  readonly viewer: Viewer;
  readonly title: string;
  readonly assets: Assets;
  /** Styles and scripts of this page alone. */
  readonly also: readonly string[];
  readonly children: Child;
}) {
  const { viewer, title, assets, also, children } = props;
  const { words, language, theme } = viewer;
  const isSignedIn = viewer.actor !== null;
  return (
    <html lang={language} dir={language === 'ar' ? 'rtl' : 'ltr'} data-theme={theme}>
      <head>
        <meta charset="utf-8" />
        <title>{`${title} · ${words.common.product}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content={theme === 'auto' ? 'light dark' : theme} />
        <meta name="referrer" content="same-origin" />
        <meta name="htmx-config" content={HTMX_CONFIG} />
        <link rel="icon" type="image/svg+xml" href={assets.url('icon.svg')} />
        <link rel="stylesheet" href={assets.url('console.css')} />
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
        data-live-words={[words.common.live, words.common.livePaused, words.common.liveLost].join('|')}
        {...(isSignedIn ? { 'data-live': `/api/events?since=${new Date(viewer.nowMs).toISOString()}` } : {})}
        {...(viewer.hasShortcuts ? { 'data-shortcuts': 'on' } : {})}
      >
        <a class="skip" href="#content">
          {words.common.skip}
        </a>
        <header class="top">
          <a class="brand" href="/board">
            <img src={assets.url('icon.svg')} alt="" width="24" height="24" />
            <span>{words.common.product}</span>
          </a>
          {isSignedIn && <Navigation viewer={viewer} />}
          <Preferences viewer={viewer} />
        </header>
        <main id="content" tabindex={-1}>
          {viewer.done !== null && <Notice viewer={viewer}>{words.common.done[viewer.done]}</Notice>}
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
  const { common } = viewer.words;
  const entries = [
    ['/board', common.board, 'g b'],
    ['/tasks', common.tasks, 'g t'],
    ['/violations', common.violations, 'g v'],
    ['/lookups', common.lookups, 'g l'],
    ['/ops', common.ops, 'g o'],
  ] as const;
  return (
    <nav aria-label={common.navigation}>
      <ul>
        {entries.map(([address, label, keys]) => (
          <li>
            <a
              href={address}
              data-hotkey={keys}
              {...(isWithin(viewer.here, address) ? { 'aria-current': 'page' } : {})}
            >
              {label}
              {address === '/tasks' && viewer.openTasks !== null && (
                <OpenTasks viewer={viewer} count={viewer.openTasks} />
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** A tow is looked at from the board. */
function isWithin(here: string, address: string): boolean {
  const [path = ''] = here.split('?');
  const home = path.startsWith('/tows/') ? '/board' : path;
  return home === address || home.startsWith(`${address}/`);
}

function Preferences({ viewer }: { readonly viewer: Viewer }) {
  const { words, language, theme, actor } = viewer;
  const { common } = words;
  return (
    <div class="preferences">
      <span class="live-state" role="status" data-live-state />
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
      <a class="quiet icon" href="/shortcuts" data-sheet title={common.shortcuts} aria-label={common.shortcuts}>
        <span aria-hidden="true">?</span>
      </a>
      {actor !== null && (
        <PostForm viewer={viewer} action="/sign-out" class="inline">
          <span class="who">{common.signedInAs(actor.name, words.terms.roles[actor.role])}</span>
          <button class="quiet">{common.signOut}</button>
        </PostForm>
      )}
    </div>
  );
}
