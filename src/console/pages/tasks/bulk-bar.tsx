import { BULK_ACTIONS, type BulkAction } from '../../../contracts/bulk';
import type { Task } from '../../../contracts/records';
import type { Failure } from '../../answers';
import { Field, PostForm } from '../../parts/form';
import { Problem } from '../../parts/problem';
import type { Viewer } from '../../viewer';
import { addressOf, isNarrowed, type TaskQuery } from './query';
import type { TaskPage } from './read';

/** The form that the boxes of the rows belong to. */
export const BULK_FORM = 'bulk';
export const SCOPES = ['ticked', 'page', 'filter'] as const;
export type Scope = (typeof SCOPES)[number];

/** Whether any decision can be taken on it together with others. */
export function canBeChosen({ actions }: Task): boolean {
  return BULK_ACTIONS.some((action) => actions.includes(action));
}

/** What of the bar has the focus when it is led to. */
const SUMMARY = 'bulk-choice';

/** Where the list stands with its bar folded out; a script folds it out in place. */
export function bulkBarAddress(query: TaskQuery): string {
  const address = addressOf(query);
  return `${address}${address.includes('?') ? '&' : '?'}${OPEN.name}=${OPEN.value}#${SUMMARY}`;
}

/** Whether an address asks for the bar to be folded out. */
export function asksForBulkBar(query: URLSearchParams): boolean {
  return query.get(OPEN.name) === OPEN.value;
}

const OPEN = { name: 'bulk', value: 'open' } as const;

/** Chooses several tasks and one decision; it leads to a preview, and does nothing else. */
export function BulkBar(props: {
  viewer: Viewer;
  query: TaskQuery;
  page: TaskPage;
  isOpen: boolean;
  failure: Failure | null;
}) {
  const { viewer, query, page, isOpen, failure } = props;
  const words = viewer.words.bulk;
  const actions = actionsOf(page);
  if (!viewer.may('dispatcher') || actions.length === 0) return null;
  const wasRefused = failure?.form === BULK_FORM;
  const scope = wasRefused ? failure.entered.get('scope') : null;
  return (
    <details class="tasks-bulk" id="bulk-bar" open={wasRefused || isOpen} data-chosen-words={words.chosen}>
      <summary id={SUMMARY}>
        {words.several} <span class="badge busy" data-chosen-count hidden />
      </summary>
      <PostForm viewer={viewer} action={addressOf(query)} id={BULK_FORM} label={words.several}>
        <Problem viewer={viewer} failure={failure} form={BULK_FORM} />
        <input type="hidden" name="bulk" value="preview" />
        {chosenByPage(page).map(({ task }) => (
          <input type="hidden" name="shown" value={task.id} />
        ))}
        <fieldset class="tasks-scopes">
          <legend>{words.which}</legend>
          {scopesOf(props).map(([value, label]) => (
            <label>
              <input type="radio" name="scope" value={value} checked={value === (scope ?? 'ticked')} /> {label}
            </label>
          ))}
          {!isNarrowed(query) && <p class="hint">{words.scopeHint}</p>}
        </fieldset>
        <div class="fields">
          <Field
            viewer={viewer}
            form={BULK_FORM}
            name="action"
            label={words.action}
            options={actions.map((action) => [action, words.actions[action]] as const)}
            isRequired
            failure={failure}
          />
          <Field
            viewer={viewer}
            form={BULK_FORM}
            name="reason"
            label={words.reason}
            hint={words.reasonHint}
            autocomplete="off"
            maxLength={500}
            failure={failure}
          />
        </div>
        <p class="row">
          <button type="submit" class="main">
            {words.preview}
          </button>
          <span class="muted">{words.previewHint}</span>
        </p>
      </PostForm>
    </details>
  );
}

/** What at least one of the shown tasks can be decided by. */
function actionsOf({ rows }: TaskPage): readonly BulkAction[] {
  return BULK_ACTIONS.filter((action) => rows.some(({ task }) => task.actions.includes(action)));
}

function chosenByPage({ rows }: TaskPage) {
  return rows.filter(({ task }) => canBeChosen(task));
}

function scopesOf({ viewer, query, page }: { viewer: Viewer; query: TaskQuery; page: TaskPage }) {
  const { scopes } = viewer.words.bulk;
  const fitting = page.fitting ?? page.rows.length;
  const ofFilter = isNarrowed(query) ? ([['filter', scopes.filter(fitting)]] as const) : [];
  return [
    ['ticked', scopes.ticked],
    ['page', scopes.page(chosenByPage(page).length)],
    ...ofFilter,
  ] as const satisfies readonly (readonly [Scope, string])[];
}
