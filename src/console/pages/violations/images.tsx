import { Ref, Written } from '../../parts/text';
import { isSettled, type ViolationModel } from './model';
import { Part } from './part';

/** What browsers can show; the others are there to be saved. */
const SHOWABLE = ['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/bmp', 'image/avif'];

/** The images, for as long as they are here; once the violation is settled they leave. */
export function Images({ model }: { model: ViolationModel }) {
  const { viewer, view } = model;
  const { violations: words, violationForm } = viewer.words;
  const { imagesDescription } = view.form;
  return (
    <Part id="images" title={words.sections.images}>
      {imagesDescription !== undefined && (
        <p>
          <span class="muted">{violationForm.fields.imagesDescription}: </span>
          <Written>{imagesDescription}</Written>
        </p>
      )}
      {view.images.length === 0 && <p class="muted">{words.noImages}</p>}
      {view.images.length > 0 &&
        (isSettled(model) ? (
          <p class="muted">{words.imagesLeft(view.images.length)}</p>
        ) : (
          <ul class="photos">
            {view.images.map((image, index) => (
              <li>
                <Image model={model} image={image} number={index + 1} />
              </li>
            ))}
          </ul>
        ))}
    </Part>
  );
}

function Image({
  model: { viewer, path, imagesThere, waiting },
  image,
  number,
}: {
  model: ViolationModel;
  image: ViolationModel['view']['images'][number];
  number: number;
}) {
  const words = viewer.words.violations;
  const isThere = imagesThere.includes(number);
  // Of one that is about to be sent they may be gone before a browser has fetched them.
  const isLeaving = waiting.kind === 'on_its_way' || waiting.kind === 'turn';
  const address = `/api${path}/images/${number}`;
  return (
    <>
      {isThere && (
        <a href={address}>
          {SHOWABLE.includes(image.content_type) && !isLeaving ? (
            <img src={address} alt={words.imageOf(number, image.name)} width={96} height={96} loading="lazy" />
          ) : (
            words.imageOf(number, image.name)
          )}
        </a>
      )}
      <span class="photo-words">
        <Written>{image.name}</Written>
        <br />
        <Ref>{viewer.formats.bytes(image.size_bytes)}</Ref> {!isThere && <strong>{words.imageMissing}</strong>}
      </span>
    </>
  );
}
