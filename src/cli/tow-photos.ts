import type { Command } from 'commander';
import { answerOf } from '../client';
import { openImages, upload } from './files';
import { saveFile } from './files';
import { towOutput } from './tow-lines';
import { addCommand, option, type CommandTools } from './command';

const REFERENCE = 'TW-20261120-ABC123';

/** Photos of a tow. They are never sent to the service. */
export function addTowPhotos(tow: Command, tools: CommandTools): void {
  addCommand(tow, tools, {
    usage: 'photos <reference> <images...>',
    summary: 'add photos of the vehicle, at most 10 MB at once unless configured otherwise',
    examples: [`towhook tow photos ${REFERENCE} front.jpg left.jpg`],
    changes: true,
    run: async (call) => {
      const images = await openImages(call.rest(1));
      const params = { path: { towing_reference_id: call.argument(0) }, header: call.header };
      return towOutput(
        await upload(call, images, (upload) =>
          answerOf(call.client.POST('/api/tows/{towing_reference_id}/photos', { params, body: { images }, ...upload })),
        ),
      );
    },
  });
  addCommand(tow, tools, {
    usage: 'photo <reference> <photo>',
    summary: 'save a photo to a file; `tow show` lists the photos',
    options: [option('--output <file>', 'the file to write').makeOptionMandatory()],
    examples: [`towhook tow photo ${REFERENCE} photo-1 --output front.jpg`],
    run: async (call) => {
      const path = { towing_reference_id: call.argument(0), photo_id: call.argument(1) };
      const bytes = await answerOf(
        call.client.GET('/api/tows/{towing_reference_id}/photos/{photo_id}', {
          params: { path },
          parseAs: 'arrayBuffer',
        }),
      );
      return saveFile(call, bytes);
    },
  });
}
