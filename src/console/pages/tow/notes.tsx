import { By, Ref, UserText } from '../../parts/text';
import { LocalCard, LocalField, LocalForm, FormProblem } from './forms';
import { LANGUAGES, messagesIn, type Messages } from '../../messages';
import type { Viewer } from '../../viewer';
import type { TowModel } from './model';
import { PostForm, Folded, LiveForm } from '../../parts/form';
import { ImageFields, UploadState } from '../../parts/image-fields';

const PHOTOS_FORM = 'photos';

/** Notes of the staff. */
export function Notes({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  const messages = viewer.messages.towDispatch.notes;
  const { notes } = view.dispatch;
  return (
    <LocalCard id="notes" title={messages.title}>
      {notes.length === 0 && <p class="muted">{messages.none}</p>}
      {notes.length > 0 && (
        <ul class="plain-list">
          {notes.toReversed().map((note) => (
            <li>
              <p class="note" dir="auto">
                {noteIn(viewer, note.text)}
              </p>
              <p class="muted">
                <By viewer={viewer} at={note.at} by={note.by} />
              </p>
            </li>
          ))}
        </ul>
      )}
      {viewer.may('crew') && (
        <LocalForm model={model} name="note" action="notes" label={messages.add} about={null}>
          <LocalField
            model={model}
            form="note"
            name="text"
            label={messages.text}
            rows={3}
            isRequired
            maxLength={2000}
          />
        </LocalForm>
      )}
    </LocalCard>
  );
}

/** The note on who took the vehicle, for which the service has no field. */
export function handoverNote({ towFacts }: Messages, name: string, identity: string): string {
  const to = name === '' ? towFacts.handedNoName : name;
  return identity === '' ? towFacts.handedNote({ name: to }) : towFacts.handedNoteWithId({ name: to, id: identity });
}

/** A note as it was written; one on who took the vehicle in the language of the viewer. */
function noteIn({ messages }: Viewer, text: string): string {
  for (const written of LANGUAGES.map(messagesIn)) {
    const [, name, identity = ''] =
      handoverPattern(written, '\uE001').exec(text) ?? handoverPattern(written, '').exec(text) ?? [];
    if (name !== undefined) return handoverNote(messages, name === written.towFacts.handedNoName ? '' : name, identity);
  }
  return text;
}

function handoverPattern(messages: Messages, identity: string): RegExp {
  const note = handoverNote(messages, '\uE000', identity).replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
  return new RegExp(`^${note.replaceAll(/[\uE000\uE001]/g, '(.+)')}$`, 's');
}

/** Links the tow to a violation by hand. */
export function Link({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  const messages = viewer.messages.towDispatch.link;
  if (!viewer.may('dispatcher')) return null;
  return (
    <LocalCard id="link" title={messages.title}>
      <p>
        {view.violation_id === null ? (
          <span class="muted">{viewer.messages.tow.noViolation}</span>
        ) : (
          <a href={`/violations/${encodeURIComponent(view.violation_id)}`}>
            <Ref>{view.violation_id}</Ref>
          </a>
        )}
      </p>
      <LocalForm
        model={model}
        name="link"
        action="violation"
        label={messages.link}
        about={view.violation_id}
        replaces={view.violation_id}
      >
        <LocalField
          model={model}
          form="link"
          name="violation_id"
          label={messages.id}
          hint={messages.hint}
          isRequired
          isLatin
          maxLength={200}
        />
      </LocalForm>
    </LocalCard>
  );
}

/** Photos of the vehicle, loaded from the API. */
export function Photos({ model }: { model: TowModel }) {
  const { viewer, view, path } = model;
  const messages = viewer.messages.towDispatch.photos;
  const { photos } = view.dispatch;
  return (
    <LocalCard id="photos" title={viewer.messages.tow.sections.photos}>
      {photos.length === 0 && <p class="muted">{messages.none}</p>}
      {photos.length > 0 && (
        <ul class="photos">
          {photos.map(({ id, name, size_bytes, at, by }) => {
            const address = `/api${path}/photos/${encodeURIComponent(id)}`;
            return (
              <li>
                <a href={address}>
                  <img src={address} alt={messages.alt({ name })} loading="lazy" width="96" height="96" />
                </a>
                <span class="muted photo-words">
                  <UserText>{name}</UserText> · {viewer.formats.bytes(size_bytes)} ·{' '}
                  <By viewer={viewer} at={at} by={by} />
                </span>
              </li>
            );
          })}
        </ul>
      )}
      {viewer.may('crew') && <AddPhotos model={model} />}
    </LocalCard>
  );
}

function AddPhotos({ model }: { model: TowModel }) {
  const { viewer, failure, path, imageSettings } = model;
  const messages = viewer.messages.towDispatch.photos;
  const shown = failure?.form === PHOTOS_FORM ? failure : null;
  return (
    <LiveForm model={model} id="live-photos" about={null}>
      <Folded label={messages.add} isOpen={shown !== null}>
        <PostForm viewer={viewer} action={`${path}/photos`} id="form-photos" label={messages.add} hasFiles>
          <FormProblem model={model} form={PHOTOS_FORM} />
          <p class="muted">{messages.hint}</p>
          <ImageFields
            viewer={viewer}
            form={PHOTOS_FORM}
            images={imageSettings}
            failure={shown}
            label={viewer.messages.tow.sections.photos}
            isRequired
          />
          <UploadState viewer={viewer} form={PHOTOS_FORM} />
          <p class="form-end">
            <button type="submit" class="main">
              {messages.send}
            </button>
          </p>
        </PostForm>
      </Folded>
    </LiveForm>
  );
}
