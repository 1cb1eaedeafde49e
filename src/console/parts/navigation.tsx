import { PAGE_ENTRIES, PAGES } from '../page-table';
import type { Viewer } from '../viewer';
import type { StatusView } from '../../contracts/operator';
import type { Child } from 'hono/jsx';

/**
 * The number of open tasks in the header, refreshed by events. Also every minute: without Redis no event comes, and only a
 * refresh that fails shows that the page is old.
 */
export function OpenTasks({ viewer }: { viewer: Viewer }) {
  const count = viewer.status?.open_tasks ?? 0;
  return (
    <span
      id="open-tasks"
      class={count > 0 ? 'nav-count alarm' : 'nav-count'}
      data-watch="tasks"
      hx-get="/tasks/count"
      hx-trigger="changed, every 60s"
      hx-swap="outerHTML"
    >
      {count > 0 && (
        <>
          {viewer.formats.number(count)} <span class="visually-hidden">{viewer.messages.tasks.openInAll}</span>
        </>
      )}
    </span>
  );
}

/** That nothing is sent, or that withheld records wait for a decision; nothing otherwise. */
export function ModeBanner({ viewer, status: { mode, held } }: { viewer: Viewer; status: StatusView }) {
  const messages = viewer.messages.withheld;
  if (mode.state === 'live' && held === 0) return null;
  return (
    <aside class="mode-banner" aria-label={messages.title}>
      {mode.state === 'live' ? messages.bannerHeld({ count: held }) : messages.banner}{' '}
      <a href={PAGES.withheld.path}>{messages.bannerLink}</a>
    </aside>
  );
}

/** The list of shortcuts, also on the page /shortcuts. */
export function ShortcutList({ viewer }: { viewer: Viewer }) {
  const { common } = viewer.messages;
  const { keys } = common;
  const entries: readonly (readonly [press: string, does: string])[] = [
    ...PAGE_ENTRIES.flatMap(({ header, shortcut }) =>
      header === undefined || shortcut === undefined ? [] : [[shortcut, common[header]] as const],
    ),
    ['/', keys.search],
    ['j', keys.next],
    ['k', keys.previous],
    ['Enter', keys.open],
    ['p', keys.pause],
    ['?', keys.help],
  ];
  return (
    <dl class="keys">
      {entries.map(([press, does]) => (
        <div>
          <dt>
            {press.split(' ').map((key) => (
              <kbd dir="ltr">{key}</kbd>
            ))}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The sheet that `?` opens on every page. */
export function ShortcutSheet({ viewer }: { viewer: Viewer }) {
  const { common } = viewer.messages;
  return (
    <dialog id="shortcut-sheet" aria-labelledby="shortcut-sheet-title">
      <h2 id="shortcut-sheet-title">{common.shortcuts}</h2>
      <p class="muted">{common.keys.intro}</p>
      <ShortcutList viewer={viewer} />
      {/* The focus is on the close button, not on the link that turns shortcuts off. */}
      <form method="dialog" class="row sheet-end">
        <a href="/shortcuts">{common.shortcutsOff}</a>{' '}
        {/* The page has the button, because a form cannot be inside this one. */}
        {viewer.actor !== null && <a href="/shortcuts">{common.signOutEverywhere}</a>}{' '}
        <button autofocus>{common.close}</button>
      </form>
    </dialog>
  );
}

/** The message of the last form. */
export function Notice({ viewer, children }: { viewer: Viewer; children: Child }) {
  return (
    <div class="notice" role="status">
      <span class="visually-hidden">{viewer.messages.common.notice}: </span>
      {children}
    </div>
  );
}
