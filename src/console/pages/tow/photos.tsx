import { PostForm } from '../../parts/form';
import { Written } from '../../parts/text';
import { LocalCard } from './local';
import { FormProblem } from './form-problem';
import type { TowModel } from './model';
import { Folded, Offer } from './offer';
import { By } from './yard';

/** Photos of the vehicle, shown by the API to whoever has signed in. */
export function Photos({ model }: { model: TowModel }) {
  const { viewer, view, path } = model;
  const words = viewer.words.towDispatch.photos;
  const { photos } = view.dispatch;
  return (
    <LocalCard id="photos" title={words.title}>
      {photos.length === 0 && <p class="muted">{words.none}</p>}
      {photos.length > 0 && (
        <ul class="photos">
          {photos.map(({ id, name, size_bytes, at, by }) => {
            const address = `/api${path}/photos/${encodeURIComponent(id)}`;
            return (
              <li>
                <a href={address}>
                  <img src={address} alt={words.alt(name)} loading="lazy" width="96" height="96" />
                </a>
                <span class="muted photo-words">
                  <Written>{name}</Written> · {viewer.formats.bytes(size_bytes)} ·{' '}
                  <By viewer={viewer} said={{ at, by }} />
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
  const { viewer, failure, path } = model;
  const words = viewer.words.towDispatch.photos;
  return (
    <Offer model={model} id="offer-photos" about={null}>
      <Folded label={words.add} isOpen={failure?.form === 'photos'}>
        <PostForm viewer={viewer} action={`${path}/photos`} label={words.add} hasFiles>
          <FormProblem model={model} form="photos" />
          <div class="field">
            <label for="photos-images">{words.choose}</label>
            <input
              id="photos-images"
              name="images"
              type="file"
              accept="image/*"
              multiple
              required
              aria-describedby="photos-images-hint"
              data-preview="photos-preview"
            />
            <p class="hint" id="photos-images-hint">
              {words.hint}
            </p>
          </div>
          <ul class="photos" id="photos-preview" hidden />
          <p class="form-end">
            <button type="submit" class="main">
              {words.send}
            </button>
          </p>
        </PostForm>
      </Folded>
    </Offer>
  );
}
