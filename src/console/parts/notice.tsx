import type { Child } from 'hono/jsx';
import type { Viewer } from '../viewer';

/** What was just done. */
export function Notice({ viewer, children }: { viewer: Viewer; children: Child }) {
  return (
    <div class="notice" role="status">
      <span class="visually-hidden">{viewer.words.common.notice}: </span>
      {children}
    </div>
  );
}
