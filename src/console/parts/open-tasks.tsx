import type { Viewer } from '../viewer';

/** How many tasks are open, in the navigation; keeps itself fresh. */
export function OpenTasks({ viewer, count }: { viewer: Viewer; count: number }) {
  return (
    <span
      id="open-tasks"
      class={count > 0 ? 'nav-count alarm' : 'nav-count'}
      data-watch="tasks"
      hx-get="/tasks/count"
      hx-trigger="changed"
      hx-swap="outerHTML"
    >
      {count > 0 && (
        <>
          {viewer.formats.number(count)} <span class="visually-hidden">{viewer.words.tasks.openInAll}</span>
        </>
      )}
    </span>
  );
}
