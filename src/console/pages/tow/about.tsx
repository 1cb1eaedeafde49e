import { Moment, Ref, Written } from '../../parts/text';
import type { TowModel } from './model';

/** What is known of the tow besides its plate and its state. */
export function About({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  const { words } = viewer;
  const { assignment } = view.dispatch;
  return (
    <dl class="facts tow-about">
      <ViolationOf model={model} />
      <dt>{words.tow.place}</dt>
      <dd>
        {view.towed_location === null ? (
          <span class="muted">{words.tow.noPlace}</span>
        ) : (
          <Written>{view.towed_location}</Written>
        )}
      </dd>
      <Coordinates model={model} />
      <dt>{words.tow.crew}</dt>
      <dd>
        {assignment === null ? (
          <span class="muted">{words.tow.nobody}</span>
        ) : (
          <>
            <Written>{assignment.crew}</Written>
            {assignment.truck !== null && (
              <>
                {' · '}
                <Written>{assignment.truck}</Written>
              </>
            )}
          </>
        )}
      </dd>
      <dt>{words.tow.requestedAt}</dt>
      <dd>
        <Moment viewer={viewer} at={view.requested_at} />
      </dd>
      {view.cancellation_reason !== null && (
        <>
          <dt>{words.tow.canceledBecause}</dt>
          <dd>
            <Written>{view.cancellation_reason}</Written>
          </dd>
        </>
      )}
    </dl>
  );
}

/** Which violation the tow comes from: as the service names it, what it is about, and ours where it is known. */
function ViolationOf({ model: { viewer, view } }: { model: TowModel }) {
  const { tow: words, terms } = viewer.words;
  return (
    <>
      <dt>{words.violation}</dt>
      <dd>
        <Ref>{view.violation_reference_id}</Ref>
        {view.violation_type !== null && ` · ${terms.violationTypes[view.violation_type]}`}
        {view.zone_id !== null && (
          <span class="muted">
            {' · '}
            {words.zone} <Ref>{view.zone_id}</Ref>
          </span>
        )}
        {' · '}
        {view.violation_id === null ? (
          <span class="muted">{words.noViolation}</span>
        ) : (
          <a href={`/violations/${encodeURIComponent(view.violation_id)}`}>
            {words.ourViolation} <Ref>{view.violation_id}</Ref>
          </a>
        )}
      </dd>
    </>
  );
}

/** Maps are somebody else's: nothing of them is loaded, and nobody is told which page the click came from. */
function Coordinates({ model: { viewer, view } }: { model: TowModel }) {
  const words = viewer.words.tow;
  const { latitude, longitude } = view;
  if (latitude === null || longitude === null) return null;
  const at = `${latitude},${longitude}`;
  const map = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=18/${latitude}/${longitude}`;
  return (
    <>
      <dt>{words.coordinates}</dt>
      <dd>
        <Ref>{`${latitude}, ${longitude}`}</Ref>
        <span class="tow-maps">
          <a href={map} rel="noreferrer">
            {words.openMap} <span class="muted">{words.openMapHint}</span>
          </a>
          <a href={`geo:${at}`} rel="noreferrer">
            {words.openDevice}
          </a>
        </span>
      </dd>
    </>
  );
}
