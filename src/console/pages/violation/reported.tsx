import { hasOffset } from '../../../domain/timestamp';
import { By, Coordinates, Timestamp, Plate, Ref, UserText, Fact, Card } from '../../parts/text';
import { PERSON_FIELDS } from '../../../domain/violation/violation';
import { type ViolationModel, isConcluded } from './model';

/** The form as it was entered, or as it was corrected since; what is about people stands behind a fold. */
export function Reported({ model }: { model: ViolationModel }) {
  const { viewer, view } = model;
  const { violations: messages, violationForm, terms, common } = viewer.messages;
  const { form } = view;
  const { fields } = violationForm;
  return (
    <Card id="reported" title={messages.sections.form}>
      <dl class="facts">
        {form.violationType !== undefined && (
          <Fact label={fields.violationType}>{terms.violationTypes[form.violationType]}</Fact>
        )}
        <Fact label={fields.plateNumber}>
          <Plate plate={form.plateNumber} />
        </Fact>
        <Fact label={fields.plateType}>
          {form.plateType !== undefined && violationForm.plateTypes[form.plateType]}
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
          <UserText>{form.location}</UserText>
        </Fact>
        <Fact label={`${fields.latitude} · ${fields.longitude}`}>
          <Coordinates viewer={viewer} latitude={form.latitude} longitude={form.longitude} />
        </Fact>
        {form.zoneId !== undefined && (
          <Fact label={fields.zoneId}>
            {!viewer.isInField && <Ref>{form.zoneId}</Ref>}
            <span class="tow-maps">
              <a href={`/lookups?zone_id=${encodeURIComponent(form.zoneId)}`}>{messages.capacity}</a>
            </span>
          </Fact>
        )}
        <Fact label={messages.reportedAt}>
          <By viewer={viewer} at={view.created_at} by={view.by} />
        </Fact>
        {!viewer.isInField && (
          <Fact label={messages.ourId}>
            <Ref>{view.id}</Ref>
          </Fact>
        )}
        {view.metadata_id !== view.id && !viewer.isInField && (
          <Fact label={messages.ownId}>
            <Ref>{view.metadata_id}</Ref>
          </Fact>
        )}
      </dl>
      <Person model={model} />
      {Object.keys(form.metadata).length > 1 && (
        <details>
          <summary>{violationForm.groups.metadata}</summary>
          <pre tabindex={0} aria-label={violationForm.groups.metadata}>
            {JSON.stringify(form.metadata, null, 2)}
          </pre>
        </details>
      )}
    </Card>
  );
}

/** A time without an offset is shown as it was entered: it may be read as another one. */
function Entered({ model: { viewer }, date }: { model: ViolationModel; date: string }) {
  return hasOffset(date) ? <Timestamp viewer={viewer} at={date} /> : <Ref>{date}</Ref>;
}

function Person({ model: { viewer, view } }: { model: ViolationModel }) {
  const { violations: messages, violationForm } = viewer.messages;
  const named = PERSON_FIELDS.flatMap((name) => {
    const value = view.form[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  if (named.length === 0) return <p class="muted">{messages.noPerson}</p>;
  return (
    <details class="person">
      <summary>{messages.sections.person}</summary>
      <p class="muted">{messages.personHint}</p>
      <dl class="facts">
        {named.map(([name, value]) => (
          <Fact label={violationForm.fields[name]}>
            <UserText>{value}</UserText>
          </Fact>
        ))}
      </dl>
    </details>
  );
}

/** What browsers can show; the others are there to be saved. */
const SHOWABLE = ['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/bmp', 'image/avif'];

/** The images, for as long as they are here; once the violation is settled they leave. */
export function Images({ model }: { model: ViolationModel }) {
  const { viewer, view } = model;
  const { violations: messages, violationForm } = viewer.messages;
  const { imagesDescription } = view.form;
  return (
    <Card id="images" title={violationForm.groups.images}>
      {imagesDescription !== undefined && (
        <p>
          <span class="muted">{violationForm.fields.imagesDescription}: </span>
          <UserText>{imagesDescription}</UserText>
        </p>
      )}
      {view.images.length === 0 && <p class="muted">{messages.noImages}</p>}
      {view.images.length > 0 &&
        (isConcluded(model) ? (
          <p class="muted">{messages.imagesLeft({ count: view.images.length })}</p>
        ) : (
          <ul class="photos">
            {view.images.map((image, index) => (
              <li>
                <Image model={model} image={image} number={index + 1} />
              </li>
            ))}
          </ul>
        ))}
      {view.replaced_images.length > 0 && (
        <p class="muted">{messages.imagesReplaced({ count: view.replaced_images.length })}</p>
      )}
    </Card>
  );
}

function Image({
  model: { viewer, path, view, waiting },
  image,
  number,
}: {
  model: ViolationModel;
  image: ViolationModel['view']['images'][number];
  number: number;
}) {
  const messages = viewer.messages.violations;
  const isThere = view.images_on_disk.includes(number);
  // Of one that is about to be sent they may be gone before a browser has fetched them.
  const isLeaving = waiting.kind === 'on_its_way' || waiting.kind === 'turn';
  const address = `/api${path}/images/${number}`;
  return (
    <>
      {isThere && (
        <a href={address}>
          {SHOWABLE.includes(image.content_type) && !isLeaving ? (
            <img
              src={address}
              alt={messages.imageOf({ number, name: image.name })}
              width={96}
              height={96}
              loading="lazy"
            />
          ) : (
            messages.imageOf({ number, name: image.name })
          )}
        </a>
      )}
      <span class="photo-words">
        <UserText>{image.name}</UserText>
        <br />
        <Ref>{viewer.formats.bytes(image.size_bytes)}</Ref> {!isThere && <strong>{messages.imageMissing}</strong>}
      </span>
    </>
  );
}
