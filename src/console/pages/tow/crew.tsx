import { CREW_STEPS } from '../../../domain/dispatch';
import { isTerminal } from '../../../domain/tow';
import { PostForm } from '../../parts/form';
import { Moment, Written } from '../../parts/text';
import { LocalCard, LocalField, LocalForm } from './local';
import { FormProblem } from './form-problem';
import type { TowModel } from './model';
import { Offer } from './offer';

/** Who goes, and how far they are. */
export function Crew({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  const words = viewer.words.towDispatch;
  const { assignment } = view.dispatch;
  return (
    <LocalCard id="crew" title={words.crew.title}>
      {assignment === null ? (
        <p class="muted">{words.crew.nobody}</p>
      ) : (
        <p>
          <Written>{assignment.crew}</Written>
          {assignment.truck !== null && (
            <>
              {' · '}
              <Written>{assignment.truck}</Written>
            </>
          )}{' '}
          <span class="muted">
            <Moment viewer={viewer} at={assignment.at} /> · {viewer.words.common.by} <Written>{assignment.by}</Written>
          </span>
        </p>
      )}
      {viewer.may('dispatcher') && !isTerminal(view.state) && <Assign model={model} />}
      <Steps model={model} />
    </LocalCard>
  );
}

function Assign({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  const words = viewer.words.towDispatch.crew;
  const { assignment } = view.dispatch;
  return (
    <>
      <LocalForm
        model={model}
        name="assign"
        action="assignment"
        label={assignment === null ? words.assign : words.reassign}
        about={assignment}
      >
        <div class="fields">
          <LocalField model={model} form="assign" name="crew" label={words.crew} isRequired maxLength={100} />
          <LocalField model={model} form="assign" name="truck" label={words.truck} maxLength={100} />
        </div>
      </LocalForm>
      {assignment !== null && (
        <LocalForm
          model={model}
          name="unassign"
          action="unassignment"
          label={words.takeBack}
          about={assignment}
          isDanger
        >
          <p class="muted">{words.takenBackHint}</p>
        </LocalForm>
      )}
    </>
  );
}

/** The steps told so far, and a button for the one that comes next. */
function Steps({ model }: { model: TowModel }) {
  const { viewer, view, path } = model;
  const words = viewer.words.towDispatch;
  const { steps } = view.dispatch;
  const done = Math.max(-1, ...steps.map(({ step }) => CREW_STEPS.indexOf(step)));
  const left = CREW_STEPS.slice(done + 1);
  const isOpen = (view.state === 'requested' || view.state === 'started') && left.length > 0;
  if (steps.length === 0 && !isOpen) return null;
  return (
    <>
      <h4>{words.steps.title}</h4>
      {steps.length === 0 && <p class="muted">{words.steps.none}</p>}
      {steps.length > 0 && (
        <ol class="steps">
          {steps.map(({ step, occurred_at, by }) => (
            <li>
              {words.stepNames[step]}{' '}
              <span class="muted">
                <Moment viewer={viewer} at={occurred_at} /> · {viewer.words.common.by} <Written>{by}</Written>
              </span>
            </li>
          ))}
        </ol>
      )}
      <Offer model={model} id="offer-steps" about={[isOpen, left]}>
        {viewer.may('crew') && isOpen && (
          <PostForm viewer={viewer} action={`${path}/steps`} class="row" label={words.steps.record}>
            <FormProblem model={model} form="steps" />
            {left.map((step, index) => (
              <button name="step" value={step} class={index === 0 ? 'strong' : ''}>
                {words.stepNames[step]}
              </button>
            ))}
          </PostForm>
        )}
      </Offer>
    </>
  );
}
