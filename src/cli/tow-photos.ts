import type { Command } from 'commander';
import { answerOf } from '../client';
import { openImages, uploading } from './images';
import { savedTo } from './save';
import { shownTow } from './tow-lines';
import { addVerb, option, type Tools } from './verb';

const REFERENCE = 'TW-20261120-ABC123';

/** Photos of a tow: they are kept by towhook and go nowhere else. */
export function addTowPhotos(tow: Command, tools: Tools): void {
  addVerb(tow, tools, {
    usage: 'photos <reference> <images...>',
    summary: 'add photos of the vehicle, at most 10 MiB at once',
    examples: [`towhook tow photos ${REFERENCE} front.jpg left.jpg`],
    changes: true,
    act: async (call) => {
      const images = await openImages(call.rest(1));
      const params = { path: { towing_reference_id: call.argument(0) }, header: call.header };
      return shownTow(
        await uploading(call, images, (upload) =>
          answerOf(call.client.POST('/api/tows/{towing_reference_id}/photos', { params, body: { images }, ...upload })),
        ),
      );
    },
  });
  addVerb(tow, tools, {
    usage: 'photo <reference> <photo>',
    summary: 'fetch one photo into a file; `tow show` lists them',
    options: [option('--output <file>', 'where to').makeOptionMandatory()],
    examples: [`towhook tow photo ${REFERENCE} photo-1 --output front.jpg`],
    act: async (call) => {
      const path = { towing_reference_id: call.argument(0), photo_id: call.argument(1) };
      const bytes = await answerOf(
        call.client.GET('/api/tows/{towing_reference_id}/photos/{photo_id}', {
          params: { path },
          parseAs: 'arrayBuffer',
        }),
      );
      return savedTo(call, bytes);
    },
  });
}
