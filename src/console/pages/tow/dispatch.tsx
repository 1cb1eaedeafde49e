import { CREW_STEPS } from '../../../domain/tow/dispatch';
import { isTerminal } from '../../../domain/tow/tow';
import { PostForm, LiveForm } from '../../parts/form';
import { By, UserText, Badge } from '../../parts/text';
import { LocalCard, LocalField, LocalForm, FormProblem } from './forms';
import type { TowModel } from './model';

/** The assigned crew and its steps. */
export function Crew({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  const messages = viewer.messages.towDispatch;
  const { assignment } = view.dispatch;
  return (
    <LocalCard id="crew" title={messages.crew.title}>
      {assignment === null ? (
        <p class="muted">{messages.crew.unassigned}</p>
      ) : (
        <p>
          <UserText>{assignment.crew}</UserText>
          {assignment.truck !== null && (
            <>
              {' · '}
              <UserText>{assignment.truck}</UserText>
            </>
          )}{' '}
          <span class="muted">
            <By viewer={viewer} at={assignment.at} by={assignment.by} />
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
  const messages = viewer.messages.towDispatch.crew;
  const { assignment } = view.dispatch;
  return (
    <>
      <LocalForm
        model={model}
        name="assign"
        action="assignment"
        label={assignment === null ? messages.assign : messages.reassign}
        about={assignment}
        replaces={assignment}
      >
        <div class="fields">
          <LocalField
            model={model}
            form="assign"
            name="crew"
            label={viewer.messages.terms.crew}
            isRequired
            maxLength={100}
          />
          <LocalField model={model} form="assign" name="truck" label={viewer.messages.terms.truck} maxLength={100} />
        </div>
      </LocalForm>
      {assignment !== null && (
        <LocalForm
          model={model}
          name="unassign"
          action="unassignment"
          label={messages.takeBack}
          about={assignment}
          replaces={assignment}
          isDanger
        >
          <p class="muted">{messages.takenBackHint}</p>
        </LocalForm>
      )}
    </>
  );
}

/** The recorded steps, and a button for each next one. */
function Steps({ model }: { model: TowModel }) {
  const { viewer, view, path } = model;
  const messages = viewer.messages.towDispatch;
  const { steps } = view.dispatch;
  const done = Math.max(-1, ...steps.map(({ step }) => CREW_STEPS.indexOf(step)));
  const left = CREW_STEPS.slice(done + 1);
  const isOpen = (view.state === 'requested' || view.state === 'started') && left.length > 0;
  if (steps.length === 0 && !isOpen) return null;
  return (
    <>
      <h4>{messages.steps.title}</h4>
      {steps.length === 0 && <p class="muted">{messages.steps.none}</p>}
      {steps.length > 0 && (
        <ol class="steps">
          {steps.map(({ step, occurred_at, by }) => (
            <li>
              {messages.stepNames[step]}{' '}
              <span class="muted">
                <By viewer={viewer} at={occurred_at} by={by} />
              </span>
            </li>
          ))}
        </ol>
      )}
      <LiveForm model={model} id="live-steps" about={[isOpen, left]}>
        {viewer.may('crew') && isOpen && (
          <PostForm viewer={viewer} action={`${path}/steps`} class="row" label={messages.steps.record}>
            <FormProblem model={model} form="steps" />
            {left.map((step, index) => (
              <button name="step" value={step} class={index === 0 ? 'strong' : ''}>
                {messages.stepNames[step]}
              </button>
            ))}
          </PostForm>
        )}
      </LiveForm>
    </>
  );
}

/** The yard and slot of a started or detained vehicle. */
export function Yard({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  const messages = viewer.messages.towDispatch.yard;
  const { yard } = view.dispatch;
  const isOurs = view.state === 'started' || view.state === 'detained';
  if (yard === null && !isOurs) return null;
  return (
    <LocalCard id="yard" title={viewer.messages.towDispatch.yard.yard}>
      {yard === null ? (
        <p class="muted">{messages.none}</p>
      ) : (
        <p>
          <UserText>{yard.yard}</UserText>
          {yard.slot !== null && (
            <>
              {' · '}
              {messages.slot} <UserText>{yard.slot}</UserText>
            </>
          )}{' '}
          <span class="muted">
            <By viewer={viewer} at={yard.at} by={yard.by} />
          </span>
        </p>
      )}
      {viewer.may('crew') && isOurs && (
        <LocalForm
          model={model}
          name="yard"
          action="yard"
          label={yard === null ? messages.set : messages.move}
          about={[yard, view.state]}
          replaces={yard}
        >
          <div class="fields">
            <LocalField model={model} form="yard" name="yard" label={messages.yard} isRequired maxLength={100} />
            <LocalField model={model} form="yard" name="slot" label={messages.slot} maxLength={100} />
          </div>
        </LocalForm>
      )}
    </LocalCard>
  );
}

/** Holds, which block payment and release. */
export function Holds({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  const messages = viewer.messages.towDispatch.holds;
  const { holds } = view.dispatch;
  const isOver = isTerminal(view.state);
  if (isOver && holds.length === 0) return null;
  return (
    <LocalCard id="holds" title={messages.title}>
      {holds.length === 0 && <p class="muted">{messages.none}</p>}
      {holds.length > 0 && (
        <ul class="plain-list">
          {holds.map((hold) => (
            <li id={`hold-${hold.id}`}>
              <Badge tone={hold.lifted ? 'quiet' : 'bad'}>{hold.lifted ? messages.lifted : messages.open}</Badge>{' '}
              <UserText>{hold.reason}</UserText>{' '}
              <span class="muted">
                <By viewer={viewer} at={hold.at} by={hold.by} />
              </span>
              {hold.lifted && (
                <p class="muted">
                  {messages.lifted}: <UserText>{hold.lifted.reason}</UserText> ·{' '}
                  <By viewer={viewer} at={hold.lifted.at} by={hold.lifted.by} />
                </p>
              )}
              {!hold.lifted && viewer.may('dispatcher') && (
                <LocalForm
                  model={model}
                  name={`lift-${hold.id}`}
                  action={`holds/${encodeURIComponent(hold.id)}/lift`}
                  label={messages.lift}
                  about={hold}
                >
                  <LocalField
                    model={model}
                    form={`lift-${hold.id}`}
                    name="reason"
                    label={messages.liftReason}
                    rows={2}
                    isRequired
                    maxLength={500}
                  />
                </LocalForm>
              )}
            </li>
          ))}
        </ul>
      )}
      {viewer.may('dispatcher') && !isOver && (
        <LocalForm model={model} name="hold" action="holds" label={messages.place} about={isOver} isDanger>
          <LocalField
            model={model}
            form="hold"
            name="reason"
            label={viewer.messages.common.reason}
            hint={messages.hint}
            rows={2}
            isRequired
            maxLength={500}
          />
        </LocalForm>
      )}
    </LocalCard>
  );
}
