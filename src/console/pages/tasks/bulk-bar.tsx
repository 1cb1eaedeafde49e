import { TASK_RUN_ACTIONS } from '../../../contracts/ops/runs';
import type { FormFailure } from '../../page';
import { ReasonField } from '../../parts/decisions';
import { Field, PostForm } from '../../parts/form';
import { Problem } from '../../parts/problem';
import type { Viewer } from '../../viewer';
import { bulkTexts, MATCHING_ID, ON_PAGE_ID } from './live';
import { addressOf, canBeChosen, isNarrowed, type TaskPage } from './model';

/** The form that the checkboxes of the rows belong to. */
export const BULK_FORM = 'bulk';
export const SCOPES = ['ticked', 'page', 'filter'] as const;
type Scope = (typeof SCOPES)[number];

/** Selects tasks and one decision. Submitting shows a preview only. */
export function BulkBar(props: { viewer: Viewer; page: TaskPage; failure: FormFailure | null }) {
  const { viewer, page, failure } = props;
  const { query } = page;
  const messages = viewer.messages.runs;
  const actions = actionsOf(page);
  if (!hasBulkBar(viewer, page)) return null;
  const wasRefused = failure?.form === BULK_FORM;
  const scope = wasRefused ? failure.entered.get('scope') : null;
  return (
    <details class="tasks-bulk" id="bulk-bar" open={wasRefused} data-chosen-text={messages.chosen({ count: '#' })}>
      <summary>
        {messages.several} <span class="badge busy" data-chosen-count hidden />
      </summary>
      <PostForm viewer={viewer} action={addressOf(query)} id={BULK_FORM} label={messages.several}>
        <Problem viewer={viewer} failure={failure} form={BULK_FORM} />
        <input type="hidden" name="bulk" value="preview" />
        {chosenByPage(page).map(({ task }) => (
          <input type="hidden" name="shown" value={task.id} />
        ))}
        <fieldset class="tasks-scopes">
          <legend>{viewer.messages.common.tasks}</legend>
          {scopesOf(props).map(([value, id, label]) => (
            <label>
              <input type="radio" name="scope" value={value} checked={value === (scope ?? 'ticked')} />{' '}
              <span id={id}>{label}</span>
            </label>
          ))}
          {!isNarrowed(query) && <p class="hint">{messages.scopeHint}</p>}
        </fieldset>
        <div class="fields">
          <Field
            viewer={viewer}
            form={BULK_FORM}
            name="action"
            label={messages.action}
            options={actions.map((action) => [action, messages.actions[action]] as const)}
            isRequired
            failure={failure}
          />
          <ReasonField
            viewer={viewer}
            form={BULK_FORM}
            hint={messages.reasonHint}
            autocomplete="off"
            failure={failure}
          />
        </div>
        <p class="row">
          <button type="submit" class="main">
            {messages.states.previewed}
          </button>
          <span class="muted">{messages.previewHint}</span>
        </p>
      </PostForm>
    </details>
  );
}

/** True if the page offers bulk decisions to the viewer. */
export function hasBulkBar(viewer: Viewer, page: TaskPage): boolean {
  return viewer.may('dispatcher') && actionsOf(page).length > 0;
}

/** Decisions that apply to at least one shown task. */
function actionsOf({ rows }: TaskPage) {
  return TASK_RUN_ACTIONS.filter((action) => rows.some(({ task }) => task.actions.includes(action)));
}

function chosenByPage({ rows }: TaskPage) {
  return rows.filter(({ task }) => canBeChosen(task));
}

function scopesOf({ viewer, page }: { viewer: Viewer; page: TaskPage }) {
  const { query } = page;
  const texts = bulkTexts(viewer, { matching: page.fitting ?? page.rows.length, onPage: chosenByPage(page).length });
  const ofFilter = isNarrowed(query) ? ([['filter', MATCHING_ID, texts.get(MATCHING_ID)]] as const) : [];
  return [
    ['ticked', undefined, viewer.messages.runs.scopes.ticked],
    ['page', ON_PAGE_ID, texts.get(ON_PAGE_ID)],
    ...ofFilter,
  ] as const satisfies readonly (readonly [Scope, string | undefined, string | undefined])[];
}
