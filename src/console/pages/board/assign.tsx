import type { Assignment } from '../../../domain/dispatch';
import type { Failure } from '../../answers';
import { Field, PostForm } from '../../parts/form';
import { Problem } from '../../parts/problem';
import { Written } from '../../parts/text';
import type { Viewer } from '../../viewer';

/** What a form of the board needs besides its tow. */
export interface AssignTools {
  readonly viewer: Viewer;
  /** The board to come back to. */
  readonly back: string;
  readonly failure: Failure | null;
}

/** The names of the crews that have tows; one list for all forms of the page. */
export const CREW_LIST_ID = 'crew-names';
/** Under these names the API takes them. */
const NAME_MAX = 100;

/** Who goes and with which truck; dispatchers give it to somebody else here, or to nobody. */
export function Crew(props: AssignTools & { readonly towRef: string; readonly assignment: Assignment | null }) {
  const { viewer, assignment } = props;
  const words = viewer.words.board;
  return (
    <>
      {assignment === null ? (
        <span class="muted">{words.nobody}</span>
      ) : (
        <span class="crew-name">
          <Written>{assignment.crew}</Written>
          {assignment.truck !== null && (
            <span class="truck">
              {' '}
              <span class="visually-hidden">{words.truck}</span> <Written>{assignment.truck}</Written>
            </span>
          )}
        </span>
      )}{' '}
      {viewer.may('dispatcher') && <AssignForm {...props} />}
    </>
  );
}

function AssignForm(props: AssignTools & { readonly towRef: string; readonly assignment: Assignment | null }) {
  const { viewer, towRef, assignment, back, failure } = props;
  const words = viewer.words.board;
  const form = formOf(towRef);
  const label = assignment === null ? words.assign : words.reassign;
  return (
    <details class="menu assign" open={failure?.form === form}>
      <summary class="quiet" aria-label={`${label}: ${towRef}`}>
        {label}
      </summary>
      <div class="menu-body">
        <PostForm viewer={viewer} action="/board/assign" label={words.assignOf(towRef)}>
          <Problem viewer={viewer} failure={failure} form={form} />
          <input type="hidden" name="ref" value={towRef} />
          <input type="hidden" name="back" value={back} />
          <Field
            viewer={viewer}
            form={form}
            name="crew"
            label={words.crewName}
            value={assignment?.crew ?? ''}
            listId={CREW_LIST_ID}
            autocomplete="off"
            maxLength={NAME_MAX}
            failure={failure}
            isRequired
          />
          <Field
            viewer={viewer}
            form={form}
            name="truck"
            label={words.truck}
            value={assignment?.truck ?? ''}
            autocomplete="off"
            maxLength={NAME_MAX}
            failure={failure}
          />
          <div class="row">
            <button class="main">{words.assign}</button>
            {assignment !== null && (
              <button name="nobody" value="true" formnovalidate>
                {words.unassign}
              </button>
            )}
          </div>
        </PostForm>
      </div>
    </details>
  );
}

/** The name of a tow's form on the page. */
export function formOf(towRef: string): string {
  return `crew-${encodeURIComponent(towRef)}`;
}
