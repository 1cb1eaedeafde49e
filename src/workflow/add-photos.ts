import { auditOf, type Actor } from '../domain/audit';
import type { Photo } from '../domain/dispatch';
import { addPhotosTo } from '../domain/dispatch-rules';
import { invalid } from '../domain/refusal';
import type { ViolationImage } from '../domain/violation';
import type { Clock } from '../platform/clock';
import type { Remember, TowStore } from './ports';
import { effectOf, noSuchTow, type Effect } from './progress';
import { untilFresh } from './retry-stale';
import type { Upload } from './spool-port';
import { noChange } from './tow-change';

export interface PhotosRequest {
  readonly ref: string;
  readonly images: readonly ViolationImage[];
  readonly upload: Upload;
  readonly actor: Actor;
  readonly remember?: Remember | undefined;
}

/** Keeps photos with a tow, or refuses and keeps nothing. The service is told nothing of it. */
export async function addPhotos(tools: { tows: TowStore; clock: Clock }, request: PhotosRequest): Promise<Effect> {
  const { ref, upload, actor } = request;
  if (request.images.length === 0) return { kind: 'refused', refusal: noImages };
  const found = await tools.tows.read(ref);
  if (!found) return { kind: 'refused', refusal: noSuchTow };
  const at = new Date(tools.clock.nowMs()).toISOString();
  const photos: Photo[] = request.images.map((image) => ({ id: tools.clock.id(), ...image, at, by: actor.name }));
  const ids = photos.map(({ id }) => id);
  const wanted = addPhotosTo(found.tow, photos);
  if (!wanted.ok) return { kind: 'refused', refusal: wanted.refusal };
  // Files first: a photo that is named can be seen.
  await upload.keep({ kind: 'photos', towingReference: ref });
  const effect = await untilFresh<Effect>(async () => {
    const record = await tools.tows.read(ref);
    if (!record) return { kind: 'refused', refusal: noSuchTow };
    const added = addPhotosTo(record.tow, photos);
    if (!added.ok) return { kind: 'refused', refusal: added.refusal };
    const audit = auditOf(actor, 'tow.photo_added', { on: { towing_reference_id: ref }, what: { photo_ids: ids } });
    const entry = { type: audit.action, photo_ids: ids, by: actor.name };
    return effectOf(
      await tools.tows.save(record, { ...noChange(added.tow), timeline: [entry], audit }, request.remember),
    );
  });
  if (effect.kind !== 'done') await upload.takeBack();
  return effect;
}

const noImages = invalid([{ field: 'images', rule: 'is required (at least one image)' }]).refusal;
