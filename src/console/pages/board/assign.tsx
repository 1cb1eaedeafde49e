import type { TowView } from '../../../contracts/operator';
import { isTerminal } from '../../../domain/tow/tow';
import type { FormFailure } from '../../page';
import { Field, PostForm, digestOf } from '../../parts/form';
import { Problem } from '../../parts/problem';
import { UserText } from '../../parts/text';
import type { Viewer } from '../../viewer';

/** What a form of the board needs besides its tow. */
export interface AssignTools {
  readonly viewer: Viewer;
  /** The board to come back to. */
  readonly back: string;
  readonly failure: FormFailure | null;
}

/** The names of the crews that have tows; one list for all forms of the page. */
export const CREW_LIST_ID = 'crew-names';
/** Under these names the API takes them. */
const NAME_MAX = 100;

type CrewProps = AssignTools & { readonly tow: TowView };

/** The assigned crew and truck; dispatchers can assign another crew or none until the tow is over. */
export function Crew(props: CrewProps) {
  const { viewer, tow } = props;
  const { assignment } = tow.dispatch;
  const messages = viewer.messages.board;
  return (
    <>
      {assignment === null ? (
        <span class="muted">{messages.unassigned}</span>
      ) : (
        <span class="crew-name" title={[assignment.crew, assignment.truck ?? []].flat().join(' · ')}>
          <UserText>{assignment.crew}</UserText>
          {assignment.truck !== null && (
            <span class="truck">
              {' '}
              <span class="visually-hidden">{viewer.messages.terms.truck}</span> <UserText>{assignment.truck}</UserText>
            </span>
          )}
        </span>
      )}{' '}
      {hasForm(viewer, tow) && <AssignForm {...props} />}
    </>
  );
}

function AssignForm({ viewer, tow, back, failure }: CrewProps) {
  const { towing_reference_id: towRef, dispatch } = tow;
  const { assignment } = dispatch;
  const messages = viewer.messages.board;
  const form = formOf(towRef);
  const label = assignment === null ? viewer.messages.towDispatch.crew.assign : messages.reassign;
  return (
    <details class="menu assign" open={failure?.form === form}>
      <summary class="quiet" aria-label={`${label}: ${towRef}`}>
        {label}
      </summary>
      <div class="menu-body">
        <PostForm
          viewer={viewer}
          action="/board/assign"
          label={messages.assignOf({ reference: towRef })}
          question={digestOf(assignment)}
        >
          <Problem viewer={viewer} failure={failure} form={form} />
          <input type="hidden" name="ref" value={towRef} />
          <input type="hidden" name="back" value={back} />
          <Field
            viewer={viewer}
            form={form}
            name="crew"
            label={viewer.messages.terms.crew}
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
            label={viewer.messages.terms.truck}
            value={assignment?.truck ?? ''}
            autocomplete="off"
            maxLength={NAME_MAX}
            failure={failure}
          />
          <div class="row">
            <button class="main">{viewer.messages.towDispatch.crew.assign}</button>
            {assignment !== null && (
              <button name="unassigned" value="true" formnovalidate>
                {viewer.messages.towDispatch.crew.takeBack}
              </button>
            )}
          </div>
        </PostForm>
      </div>
    </details>
  );
}

/** False for a tow that is over: the API refuses its assignment. */
export function hasForm(viewer: Viewer, tow: TowView): boolean {
  return viewer.may('dispatcher') && !isTerminal(tow.state);
}

/** The name of a tow's form on the page. */
export function formOf(towRef: string): string {
  return `crew-${encodeURIComponent(towRef)}`;
}
