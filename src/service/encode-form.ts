import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import FormData from 'form-data';
import { TransportFailure } from './transport-failure';

/** A body and the headers that describe it; `Content-Length` is always among them when there is a body. */
export interface Content {
  readonly headers: Readonly<Record<string, string | false>>;
  readonly data: string | Readable | undefined;
}

/** An image that travels with a violation: a file, or whatever gives its bytes afresh each time it is asked. */
export type ViolationImage = {
  readonly fileName: string;
  readonly contentType: string;
  readonly sizeBytes: number;
} & ({ readonly path: string } | { readonly open: () => Readable });

/**
 * A multipart form (service-api 2.1): the fields in the order given, then every image under the name `images`.
 * Images are read only as fast as the service takes them, one at a time.
 * Throws a TransportFailure, phase surely_not_sent, when an image file is missing or has another size than announced:
 * better found before the first byte than in the middle of a call that is not safe to repeat.
 */
export async function encodeForm(
  fields: readonly (readonly [string, string])[],
  images: readonly ViolationImage[],
): Promise<Content> {
  await Promise.all(images.map(checkReadable));
  const form = new FormData();
  const opened: Readable[] = [];
  for (const [name, value] of fields) form.append(name, value);
  for (const image of images) {
    // Opened when its turn comes, so that never more than one file is open.
    const openNext = (next: (stream: Readable) => void) => {
      const stream = 'path' in image ? createReadStream(image.path) : image.open();
      opened.push(stream);
      next(stream);
    };
    form.append('images', openNext, {
      filename: image.fileName,
      contentType: mediaType(image.contentType),
      knownLength: image.sizeBytes,
    });
  }
  return {
    headers: {
      'Content-Type': `multipart/form-data; boundary=${form.getBoundary()}`,
      'Content-Length': String(form.getLengthSync()),
    },
    data: readableOf(form, opened),
  };
}

async function checkReadable(image: ViolationImage): Promise<void> {
  if (!('path' in image)) return;
  const sizeBytes = await stat(image.path).then(
    (file) => file.size,
    () => null,
  );
  if (sizeBytes !== image.sizeBytes) {
    throw new TransportFailure({ phase: 'surely_not_sent', reason: 'image_unreadable' });
  }
}

/** The form is a stream of the oldest kind; this gives it the backpressure and the clean-up of today's. */
function readableOf(form: FormData, opened: readonly Readable[]): Readable {
  const readable = new Readable({
    read: () => void form.resume(),
    destroy(error, done) {
      for (const stream of opened) stream.destroy();
      done(error);
    },
  });
  form.on('data', (chunk: string | Buffer) => {
    if (!readable.push(chunk)) form.pause();
  });
  form.on('end', () => readable.push(null));
  form.on('error', (error: Error) => readable.destroy(error));
  return readable;
}

/** The type comes from whoever uploaded the image: anything but a plain media type could forge lines of the form. */
function mediaType(contentType: string): string {
  return /^[\w.+-]+\/[\w.+-]+$/.test(contentType) ? contentType : 'application/octet-stream';
}
