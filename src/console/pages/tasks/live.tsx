import { part, type PageResult, type PageTools, type PostedForm } from '../../page';
import type { Viewer } from '../../viewer';
import { bulkTexts, countTexts } from './counts';
import { addressOf, fittingIn, queryOf, sinceShown, TASK_ROWS, type RowMark } from './model';
import type { TaskQuery } from './model';

/**
 * Keeps the list current without moving rows: marks the rows that were decided or changed, counts new tasks, and updates
 * the counts that are shown. Typed text is never touched.
 */
interface LiveProps {
  readonly viewer: Viewer;
  readonly query: TaskQuery;
  /** `question id` of each row that is shown. */
  readonly shown: readonly string[];
  /** The ids of the counts that are shown. */
  readonly counted: readonly string[];
  readonly newestAt: string;
  readonly newCount: number;
}

export function Live({ viewer, query, shown, counted, newestAt, newCount }: LiveProps) {
  const messages = viewer.messages.tasks;
  const asked = { form_token: viewer.formToken, list: addressOf(query), shown, counted, newest: newestAt };
  return (
    <div
      id="tasks-live"
      class="tasks-live"
      role="status"
      data-watch="tasks"
      hx-post="/tasks/live"
      hx-trigger="changed"
      hx-swap="morph:outerHTML"
      hx-vals={JSON.stringify(asked)}
    >
      {newCount > 0 && (
        <a class="button main" href={addressOf(query)}>
          {newCount < TASK_ROWS ? messages.fresh({ count: newCount }) : messages.freshMany}
        </a>
      )}
    </div>
  );
}

/** Renders the count of new tasks; the mark of each shown row and each shown count as out-of-band swaps. */
export async function showLive(
  { api }: Pick<PageTools, 'api'>,
  { viewer, actor, form }: PostedForm,
): Promise<PageResult> {
  const query = queryOf(form.get('list') ?? '');
  const shown = form.getAll('shown').slice(0, TASK_ROWS);
  const newestAt = form.get('newest') ?? '';
  const { rows, newCount, counts } = await sinceShown(api, actor, { query, rows: shown.map(rowOf), newestAt });
  const open = rows.filter(({ now }) => now !== 'gone').length;
  const inBar = {
    matching: fittingIn(counts, query) ?? open + newCount,
    onPage: rows.filter((row) => row.canBeChosen).length,
  };
  const texts = [...countTexts(viewer, query, counts), ...bulkTexts(viewer, inBar)].filter(([id]) =>
    form.getAll('counted').includes(id),
  );
  const counted = texts.map(([id]) => id);
  return part(
    <>
      <Live viewer={viewer} query={query} shown={shown} counted={counted} newestAt={newestAt} newCount={newCount} />
      {rows.map((row) => (
        <Mark viewer={viewer} row={row} isNews />
      ))}
      {texts.map(([id, text]) => (
        <span id={id} hx-swap-oob="innerHTML">
          {text}
        </span>
      ))}
    </>,
  );
}

function rowOf(shown: string): readonly [id: string, question: string] {
  const [question = '', ...id] = shown.split(' ');
  return [id.join(' '), question];
}

/** Marks a row whose task was closed or changed since it was shown. */
export function Mark({ viewer, row, isNews = false }: { viewer: Viewer; row: RowMark; isNews?: boolean }) {
  return (
    <p
      class="tasks-gone"
      id={`${row.anchor}-now`}
      role="status"
      data-now={row.now}
      // Morphing keeps the element, so that screen readers announce it.
      {...(isNews ? { 'hx-swap-oob': 'morph' } : {})}
    >
      {markText(viewer, row)}
    </p>
  );
}

function markText({ messages }: Viewer, { now }: RowMark): string {
  switch (now) {
    case 'gone':
      return messages.tasks.gone;
    case 'changed':
      return messages.tasks.changed;
    case 'same':
      return '';
  }
}
