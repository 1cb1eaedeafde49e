import { ROUTES } from '../contracts/operator-routes';
import { addPhotos, type PhotosTools } from '../workflow/add-photos';
import type { Spool } from '../workflow/spool-port';
import type { Server } from './serve';

/** Photos of a tow: kept here and told to nobody. */
export function servePhotos(server: Server, tools: PhotosTools & { spool: Pick<Spool, 'pathOf'> }): void {
  const { tows, spool } = tools;
  server.takeForm(ROUTES.addPhotos, ({ params, actor }, { images, upload }) => {
    const ref = params('towing_reference_id');
    return { effect: (remember) => addPhotos(tools, { ref, images, upload, actor, remember }) };
  });
  server.giveImage(ROUTES.readPhoto, async ({ params }) => {
    const towingReference = params('towing_reference_id');
    const record = await tows.read(towingReference);
    const photo = record?.tow.dispatch.photos.find(({ id }) => id === params('photo_id'));
    if (!photo) return null;
    const path = await spool.pathOf({ kind: 'photos', towingReference }, photo);
    return path === null ? null : { ...photo, path };
  });
}
