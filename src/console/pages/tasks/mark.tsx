import type { Viewer } from '../../viewer';
import type { RowNow } from './read';

/** What became of a row while the page stands; empty while it still asks what it asked. */
export function Mark({ viewer, row, isNews = false }: { viewer: Viewer; row: RowNow; isNews?: boolean }) {
  return (
    <p
      class="tasks-gone"
      id={`${row.anchor}-now`}
      role="status"
      // News is put where its row stands, and what is read aloud stays the same element.
      {...(isNews ? { 'hx-swap-oob': 'morph' } : {})}
    >
      {wordsOf(viewer, row)}
    </p>
  );
}

function wordsOf({ words }: Viewer, { now }: RowNow): string {
  switch (now) {
    case 'gone':
      return words.tasks.gone;
    case 'changed':
      return words.tasks.changed;
    case 'same':
      return '';
  }
}
