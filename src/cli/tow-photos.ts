import type { Command } from 'commander';
import { ROUTES } from '../contracts/operator-routes';
import { ACCEPTS_DAMAGED, imagesOf, saveFile, upload } from './files';
import { towOutput } from './tow-lines';
import { addCommand, option, type CommandTools } from './command';

const REFERENCE = 'TW-20261120-ABC123';

/** Photos of a tow. They are never sent to the service. */
export function addTowPhotos(tow: Command, tools: CommandTools): void {
  addCommand(tow, tools, {
    usage: 'photos <reference> <images...>',
    summary: 'add photos of the vehicle, at most 10 MB at once unless configured otherwise',
    options: [ACCEPTS_DAMAGED],
    examples: [`towhook tow photos ${REFERENCE} front.jpg left.jpg`],
    changes: true,
    run: async (call) => {
      const body = await imagesOf(call, call.rest(1));
      const params = { towing_reference_id: call.argument(0) };
      return towOutput(
        await upload(call, body.images, (onSent) =>
          call.client.call(ROUTES.addPhotos, { params, body, key: call.key, onSent }),
        ),
      );
    },
  });
  addCommand(tow, tools, {
    usage: 'photo <reference> <photo>',
    summary: 'save a photo to a file; `tow show` lists the photos',
    options: [option('--output <file>', 'the file to write').makeOptionMandatory()],
    examples: [`towhook tow photo ${REFERENCE} 0b5c… --output front.jpg`],
    run: async (call) => {
      const params = { towing_reference_id: call.argument(0), photo_id: call.argument(1) };
      const photo = await call.client.call(ROUTES.readPhoto, { params });
      return saveFile(call, await photo.arrayBuffer());
    },
  });
}
