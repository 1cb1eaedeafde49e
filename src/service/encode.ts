import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import FormData from 'form-data';
import type { Operation } from '../contracts/operations';
import { TransportFailure } from './transport-failure';

/** A body and the headers that describe it; `Content-Length` is always among them when there is a body. */
export interface Content {
  readonly headers: Readonly<Record<string, string | false>>;
  readonly data: string | Readable | undefined;
}

/** An image that travels with a violation: a file, or a function that opens its bytes for each attempt. */
export type ViolationImage = {
  readonly fileName: string;
  readonly contentType: string;
  readonly sizeBytes: number;
} & ({ readonly path: string } | { readonly open: () => Readable });

/** A request as it travels, without the headers that say who sends it. */
export interface EncodedRequest {
  readonly method: Operation['method'];
  /** The operation's path with its query; appended to the base address. */
  readonly path: string;
  /**
   * Makes the body for one attempt; asked again for the next, since a stream can be sent only once.
   * Throws a TransportFailure when an image cannot be read.
   */
  open(): Content | Promise<Content>;
}

/** Axios would name a type for the body that is not there; false keeps it from doing so. */
const NO_TYPE = { 'Content-Type': false } as const;

/**
 * Writes a request the way its operation's row says (service-api 4): JSON with the fields in the order given, a
 * multipart form, a query, or, for the token call, nothing but headers.
 */
export function encode(operation: Operation, request: unknown, images: readonly ViolationImage[] = []): EncodedRequest {
  const { method, path } = operation;
  switch (operation.encoding) {
    case 'json': {
      const data = JSON.stringify(request);
      const headers = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(data)) };
      return { method, path, open: () => ({ headers, data }) };
    }
    case 'form': {
      const fields = textFields(request);
      return { method, path, open: () => encodeForm(fields, images) };
    }
    case 'query':
      return { method, path: `${path}?${queryOf(request)}`, open: () => ({ headers: NO_TYPE, data: undefined }) };
    case 'credentials': {
      const headers = { ...NO_TYPE, 'Content-Length': '0' };
      return { method, path, open: () => ({ headers, data: undefined }) };
    }
  }
}

function queryOf(request: unknown): string {
  // A plus is read as a space by some servers and as a plus by others; %20 means the same to all.
  return new URLSearchParams(textFields(request)).toString().replaceAll('+', '%20');
}

/** Fields as text: numbers and booleans in their JSON spelling, objects JSON-encoded (service-api 2.1, metadata). */
function textFields(request: unknown): [string, string][] {
  if (typeof request !== 'object') return [];
  return Object.entries<unknown>({ ...request })
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
}

/**
 * A multipart form (service-api 2.1): the fields in the order given, then every image under the name `images`.
 * Images are read only as fast as the service takes them, one at a time.
 * Throws a TransportFailure, phase surely_not_sent, when an image file is missing or has another size than announced:
 * better found before the first byte than in the middle of a call that is not safe to repeat.
 */
async function encodeForm(
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

/** The uploader chose the type: anything but a plain media type could inject lines into the form. */
function mediaType(contentType: string): string {
  return /^[\w.+-]+\/[\w.+-]+$/.test(contentType) ? contentType : 'application/octet-stream';
}
