import { Moment, Plate, Ref, Written } from '../../parts/text';
import { PERSON_FIELDS } from './fields';
import type { ViolationModel } from './model';
import { Fact, Part } from './part';

/** The form as it was entered, or as it was corrected since; what is about people stands behind a fold. */
export function Reported({ model }: { model: ViolationModel }) {
  const { viewer, view } = model;
  const { violations: words, violationForm, terms, common } = viewer.words;
  const { form } = view;
  const { fields } = violationForm;
  return (
    <Part id="reported" title={words.sections.form}>
      <dl class="facts">
        <Fact label={fields.violationType}>{terms.violationTypes[form.violationType]}</Fact>
        <Fact label={fields.plateNumber}>
          <Plate plate={form.plateNumber} />
        </Fact>
        <Fact label={fields.plateType}>
          {violationForm.plateTypes[form.plateType]}
          {form.isSaudi !== undefined && (
            <span class="muted">
              {' · '}
              {fields.isSaudi} {form.isSaudi ? common.yes : common.no}
            </span>
          )}
        </Fact>
        {form.date !== undefined && (
          <Fact label={fields.date}>
            <Entered model={model} date={form.date} />
          </Fact>
        )}
        <Fact label={fields.location}>
          <Written>{form.location}</Written>
        </Fact>
        <Fact label={`${fields.latitude} · ${fields.longitude}`}>
          <Coordinates model={model} />
        </Fact>
        <Fact label={fields.zoneId}>
          <Ref>{form.zoneId}</Ref>
          <span class="tow-maps">
            <a href={`/lookups?zone_id=${encodeURIComponent(form.zoneId)}`}>{words.capacity}</a>
          </span>
        </Fact>
        <Fact label={words.reportedAt}>
          <Moment viewer={viewer} at={view.created_at} /> {common.by} <Written>{view.by}</Written>
        </Fact>
        <Fact label={words.ourId}>
          <Ref>{view.id}</Ref>
        </Fact>
        {view.metadata_id !== view.id && (
          <Fact label={words.ownId}>
            <Ref>{view.metadata_id}</Ref>
          </Fact>
        )}
      </dl>
      <Person model={model} />
      {Object.keys(form.metadata).length > 1 && (
        <details>
          <summary>{words.metadata}</summary>
          <pre tabindex={0} aria-label={words.metadata}>
            {JSON.stringify(form.metadata, null, 2)}
          </pre>
        </details>
      )}
    </Part>
  );
}

/** A time without an offset is shown as it was entered: it may be read as another one. */
function Entered({ model: { viewer }, date }: { model: ViolationModel; date: string }) {
  return /(Z|[+-]\d{2}:?\d{2})$/i.test(date) ? <Moment viewer={viewer} at={date} /> : <Ref>{date}</Ref>;
}

/** Maps are somebody else's: nothing of them is loaded, and nobody is told which page the click came from. */
function Coordinates({ model: { viewer, view } }: { model: ViolationModel }) {
  const words = viewer.words.violations;
  const { latitude, longitude } = view.form;
  const map = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=18/${latitude}/${longitude}`;
  return (
    <>
      <Ref>{`${latitude}, ${longitude}`}</Ref>
      <span class="tow-maps">
        <a href={map} rel="noreferrer">
          {words.openMap} <span class="muted">{words.openMapHint}</span>
        </a>
        <a href={`geo:${latitude},${longitude}`} rel="noreferrer">
          {words.openDevice}
        </a>
      </span>
    </>
  );
}

function Person({ model: { viewer, view } }: { model: ViolationModel }) {
  const { violations: words, violationForm } = viewer.words;
  const named = PERSON_FIELDS.flatMap((name) => {
    const value = view.form[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  if (named.length === 0) return <p class="muted">{words.noPerson}</p>;
  return (
    <details class="person">
      <summary>{words.sections.person}</summary>
      <p class="muted">{words.personHint}</p>
      <dl class="facts">
        {named.map(([name, value]) => (
          <Fact label={violationForm.fields[name]}>
            <Written>{value}</Written>
          </Fact>
        ))}
      </dl>
    </details>
  );
}
