import type { Viewer } from '../viewer';

/** The list of shortcuts; the page /shortcuts shows the same where no script runs. */
export function ShortcutList({ viewer }: { viewer: Viewer }) {
  const { keys, lookups } = viewer.words.common;
  const entries = [
    ['g b', keys.goBoard],
    ['g t', keys.goTasks],
    ['g v', keys.goViolations],
    ['g l', lookups],
    ['g o', keys.goOps],
    ['/', keys.search],
    ['j', keys.next],
    ['k', keys.previous],
    ['Enter', keys.open],
    ['p', keys.pause],
    ['?', keys.help],
  ] as const;
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
  const { common } = viewer.words;
  return (
    <dialog id="shortcut-sheet" aria-labelledby="shortcut-sheet-title">
      <h2 id="shortcut-sheet-title">{common.keys.title}</h2>
      <p class="muted">{common.keys.intro}</p>
      <ShortcutList viewer={viewer} />
      {/* Whoever opens it to read closes it with the next key: the focus is not on what turns shortcuts off. */}
      <form method="dialog" class="row sheet-end">
        <a href="/shortcuts">{common.shortcutsOff}</a> <button autofocus>{common.close}</button>
      </form>
    </dialog>
  );
}
