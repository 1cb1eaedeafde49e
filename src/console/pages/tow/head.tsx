import { WHEREABOUTS_FIELDS } from '../../../domain/tow/tow';
import { TowStateBadge } from '../../parts/states';
import { Age, Badge, Coordinates, Fact, Plate, Ref, Timestamp, UserText } from '../../parts/text';
import { WhyTow } from '../../parts/why';
import type { TowModel } from './model';

/** Reference, state and plate of the tow, and why it waits. */
export function TowHead({ model }: { model: TowModel }) {
  const { viewer, view, waiting } = model;
  const { messages } = viewer;
  return (
    <header class="tow-head" id="tow-head">
      <div class="head">
        <div class="row">
          <h1>
            <Ref>{view.towing_reference_id}</Ref>
          </h1>
          <TowStateBadge viewer={viewer} state={view.state} />
          <Marks model={model} />
        </div>
        <p class="row tow-ways">
          <span class="muted">
            {messages.tow.inStateFor({ state: messages.terms.towStates[view.state] })}{' '}
            <Age viewer={viewer} since={view.state_since} />
          </span>
          {!viewer.isInField && (
            <a href={`/api${model.path}`} class="button small">
              {messages.tow.json}
            </a>
          )}
        </p>
      </div>
      <p class="tow-plate">
        {view.plate_number === null ? (
          <span class="muted">{messages.tow.noPlate}</span>
        ) : (
          <Plate plate={view.plate_number} />
        )}
      </p>
      <p class={`why ${waiting.kind === 'decision' || waiting.kind === 'blocked' ? 'bad' : ''}`} id="tow-why">
        <span class="visually-hidden">{messages.why.label}: </span>
        <WhyTow viewer={viewer} waiting={waiting} state={view.state} />
      </p>
      <About model={model} />
    </header>
  );
}

function Marks({ model: { viewer, view } }: { model: TowModel }) {
  const messages = viewer.messages.tow;
  const holds = view.dispatch.holds.filter(({ lifted }) => lifted === null).length;
  return (
    <>
      {view.overdue.map(({ what, since }) => (
        <Badge tone="bad" title={viewer.formats.timestamp(since)}>
          {messages.overdue[what]}
        </Badge>
      ))}
      {holds > 0 && <Badge tone="bad">{messages.onHold({ count: holds })}</Badge>}
    </>
  );
}

/** Violation, place, crew and times of the tow. */
function About({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  const { messages } = viewer;
  const { latitude, longitude } = view;
  const { assignment } = view.dispatch;
  return (
    <dl class="facts tow-about">
      <ViolationOf model={model} />
      <Fact label={messages.tow.place}>
        {view.towed_location === null ? (
          <span class="muted">{messages.tow.noPlace}</span>
        ) : (
          <UserText>{view.towed_location}</UserText>
        )}
      </Fact>
      {latitude !== null && longitude !== null && (
        <Fact label={messages.tow.coordinates}>
          <Coordinates viewer={viewer} latitude={latitude} longitude={longitude} />
        </Fact>
      )}
      {WHEREABOUTS_FIELDS.filter(({ name, isRequired }) => !isRequired && view[name] !== null).map(({ name }) => (
        <Fact label={messages.towFacts.fields[name]}>
          <UserText>{String(view[name])}</UserText>
        </Fact>
      ))}
      <Fact label={messages.terms.crew}>
        {assignment === null ? (
          <span class="muted">{messages.tow.unassigned}</span>
        ) : (
          <>
            <UserText>{assignment.crew}</UserText>
            {assignment.truck !== null && (
              <>
                {' · '}
                <UserText>{assignment.truck}</UserText>
              </>
            )}
          </>
        )}
      </Fact>
      <Fact label={messages.tow.requestedAt}>
        <Timestamp viewer={viewer} at={view.requested_at} />
      </Fact>
      {view.cancellation_reason !== null && (
        <Fact label={messages.towFacts.fields.cancellation_reason}>
          <UserText>{view.cancellation_reason}</UserText>
        </Fact>
      )}
    </dl>
  );
}

/** The violation of the tow: its reference at the service and the page in towhook. */
function ViolationOf({ model: { viewer, view } }: { model: TowModel }) {
  const { tow: messages, terms } = viewer.messages;
  return (
    <Fact label={terms.operations.violation}>
      <Ref>{view.violation_reference_id}</Ref>
      {view.violation_type !== null && ` · ${terms.violationTypes[view.violation_type]}`}
      {view.zone_id !== null && !viewer.isInField && (
        <span class="muted">
          {' · '}
          {terms.zone} <Ref>{view.zone_id}</Ref>
        </span>
      )}
      {' · '}
      {view.violation_id === null ? (
        <span class="muted">{messages.noViolation}</span>
      ) : (
        <a href={`/violations/${encodeURIComponent(view.violation_id)}`}>
          {messages.ourViolation} {!viewer.isInField && <Ref>{view.violation_id}</Ref>}
        </a>
      )}
    </Fact>
  );
}
