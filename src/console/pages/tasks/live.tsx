import { part, type Shown } from '../../answers';
import type { Posted } from '../../serve';
import type { Viewer } from '../../viewer';
import { Mark } from './mark';
import { addressOf, PAGE_ROWS, queryOf, type TaskQuery } from './query';
import { sinceShown, type TaskTools } from './read';

/**
 * What keeps the list true while somebody works in it: it tells what became of each row that is shown, and how many new
 * ones there are. Rows are marked where they stand; none comes, goes or moves, and nothing that is typed is touched.
 */
export interface LiveProps {
  readonly viewer: Viewer;
  readonly query: TaskQuery;
  /** `question id` of each row that is shown. */
  readonly shown: readonly string[];
  readonly newestAt: string;
  readonly newCount: number;
}

export function Live({ viewer, query, shown, newestAt, newCount }: LiveProps) {
  const words = viewer.words.tasks;
  const asked = { form_token: viewer.formToken, list: addressOf(query), shown, newest: newestAt };
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
          {newCount < PAGE_ROWS ? words.fresh(newCount) : words.freshMany}
        </a>
      )}
    </div>
  );
}

/** Answers with the line above the list, and with the marks of the rows, each to be put where its row stands. */
export async function showLive({ tasks }: Pick<TaskTools, 'tasks'>, { viewer, form }: Posted): Promise<Shown> {
  const query = queryOf(form.get('list') ?? '');
  const shown = form.getAll('shown').slice(0, PAGE_ROWS);
  const newestAt = form.get('newest') ?? '';
  const { rows, newCount } = await sinceShown({ tasks }, { query, rows: shown.map(rowOf), newestAt });
  return part(
    <>
      <Live viewer={viewer} query={query} shown={shown} newestAt={newestAt} newCount={newCount} />
      {rows.map((row) => (
        <Mark viewer={viewer} row={row} isNews />
      ))}
    </>,
  );
}

function rowOf(shown: string): readonly [id: string, question: string] {
  const [question = '', ...id] = shown.split(' ');
  return [id.join(' '), question];
}
