import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import FormData from 'form-data';
import type { Operation } from '../contracts/service/operations';
import type { ImageOnDisk } from '../workflow/service/service-port';
import { TransportFailure } from './transport-failure';

/** A body and the headers that describe it; `Content-Length` is always among them when there is a body. */
export interface Content {
  readonly headers: Readonly<Record<string, string>>;
  readonly data: string | Readable | undefined;
}

/** A request as sent, without the headers that authenticate the operator. */
export interface EncodedRequest {
  readonly method: Operation['method'] | 'OPTIONS';
  /** Appended to the address of the operation: empty, or from the question mark on; of a probe, a path below it. */
  readonly query: string;
  /** True with images: its deadline runs by progress. */
  readonly isUpload: boolean;
  /**
   * Makes the body for one attempt; asked again for the next, since a stream can be sent only once.
   * Throws a TransportFailure when an image cannot be read.
   */
  open(): Content | Promise<Content>;
}

/**
 * Encodes a request as its operation requires (docs/service-api.md#operations): JSON with the fields in the given
 * order, a multipart form, a query, or headers only for the token call.
 */
export function encode(operation: Operation, request: unknown, images: readonly ImageOnDisk[] = []): EncodedRequest {
  const { method } = operation;
  switch (operation.encoding) {
    case 'json': {
      const data = JSON.stringify(request);
      const headers = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(data)) };
      return { method, query: '', isUpload: false, open: () => ({ headers, data }) };
    }
    case 'form': {
      const fields = textFields(request);
      return { method, query: '', isUpload: images.length > 0, open: () => encodeForm(fields, images) };
    }
    case 'query': {
      const open = () => ({ headers: {}, data: undefined });
      return { method, query: `?${queryOf(request)}`, isUpload: false, open };
    }
    case 'credentials': {
      const headers = { 'Content-Length': '0' };
      return { method, query: '', isUpload: false, open: () => ({ headers, data: undefined }) };
    }
  }
}

function queryOf(request: unknown): string {
  // A plus is read as a space by some servers and as a plus by others; %20 means the same to all.
  return new URLSearchParams(textFields(request)).toString().replaceAll('+', '%20');
}

/**
 * Fields as text: numbers and booleans in their JSON spelling, objects JSON-encoded
 * (docs/service-api.md#violation-form, metadata).
 */
function textFields(request: unknown): [string, string][] {
  if (typeof request !== 'object') return [];
  return Object.entries<unknown>({ ...request })
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
}

/**
 * Encodes a multipart form (docs/service-api.md#violation-form): the fields in the given order, then every image under
 * the name `images`. Images are read one at a time, as fast as the service takes them.
 *
 * @throws TransportFailure, phase surely_not_sent, when an image file is missing or has another size than announced.
 * Found later, it would leave a call of unknown outcome.
 */
async function encodeForm(
  fields: readonly (readonly [string, string])[],
  images: readonly ImageOnDisk[],
): Promise<Content> {
  await Promise.all(images.map(checkReadable));
  const form = new FormData();
  const opened: Readable[] = [];
  for (const [name, value] of fields) form.append(name, value);
  for (const image of images) {
    // Opened one after the other, so that only one file is open.
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

async function checkReadable(image: ImageOnDisk): Promise<void> {
  if (!('path' in image)) return;
  const sizeBytes = await stat(image.path).then(
    (file) => file.size,
    () => null,
  );
  if (sizeBytes !== image.sizeBytes) {
    throw new TransportFailure({ phase: 'surely_not_sent', reason: 'image_unreadable' });
  }
}

/** Wraps the old-style stream of form-data into a Readable with backpressure and clean-up. */
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

/** The uploader chose the type. Anything but a plain media type could inject lines into the form. */
function mediaType(contentType: string): string {
  return /^[\w.+-]+\/[\w.+-]+$/.test(contentType) ? contentType : 'application/octet-stream';
}
