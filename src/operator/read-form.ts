import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { IMAGES_TOTAL_BYTES_MAX } from '../contracts/service';
import type { FieldRule } from '../domain/refusal';
import type { ViolationImage } from '../domain/violation';
import type { Upload } from '../workflow/spool-port';
import { boundaryOf, PartCount } from './count-parts';

/** A multipart form, its fields as text and its images in the spool; `faults` are what is wrong with it so far. */
export interface Form {
  readonly fields: Readonly<Record<string, string>>;
  /** In the order they came; those that are no image are among the faults and not here. */
  readonly images: readonly ViolationImage[];
  readonly faults: readonly FieldRule[];
}

/**
 * - too_large: the images, or the form as a whole, have too many bytes.
 * - broken: it is no multipart form, or ends in the middle.
 * - part_unreadable: it has a part that is neither a field nor a file, as nobody can tell what it is called.
 * - gone: the client went away.
 * - not_stored: the disk did not take the images.
 */
export type FormRead = { readonly kind: 'read'; readonly form: Form } | FormNotRead;

/** With the fields that came until then. */
export type FormNotRead = Broken & Pick<Form, 'fields'>;

type Broken =
  | { readonly kind: 'too_large' | 'broken' | 'part_unreadable' | 'gone' }
  | { readonly kind: 'not_stored'; readonly error: unknown };

/** Files come under this name and no other (service-api 2.1). */
const IMAGES = 'images';
/** What the fields and the heads of the parts may have besides the images. */
export const FORM_ALLOWANCE_BYTES = 256 * 1024;
export const FORM_BYTES_MAX = IMAGES_TOTAL_BYTES_MAX + FORM_ALLOWANCE_BYTES;
/** Far above any real form; they bound the memory. The document limits the size of the images and not their number. */
const LIMITS = { fields: 50, fieldSize: 70_000, files: 100 };
const NAME_MAX = 200;

const NOT_AN_IMAGE = 'must be a whole image: JPEG, PNG, WebP, GIF, BMP, TIFF, HEIC, HEIF or AVIF';
/** What the parser says about a part whose head is no list of headers. */
const MALFORMED_HEAD = 'Malformed part header';

class TooLarge extends Error {}
class BrokenForm extends Error {}

/** Streams a form in: images go to the upload as they come, a piece at a time. Never rejects; discards nothing. */
export async function readForm(request: IncomingMessage, upload: Upload): Promise<FormRead> {
  const reading = new Reading(upload);
  const ending = await reading.run(request);
  // Nothing may still be written when the upload is discarded.
  const settled = await Promise.allSettled(reading.images);
  const fields = Object.fromEntries(reading.fields);
  if (ending.kind !== 'whole') return { ...ending, fields };
  const images = settled.flatMap((image) => (image.status === 'fulfilled' && image.value ? [image.value] : []));
  const notImages = images.flatMap(({ contentType }, index) =>
    contentType === null ? [{ field: `${IMAGES}.${index + 1}`, rule: NOT_AN_IMAGE }] : [],
  );
  return {
    kind: 'read',
    form: {
      fields,
      images: images.flatMap(({ contentType, ...image }) => (contentType === null ? [] : [{ ...image, contentType }])),
      faults: [...reading.faults, ...notImages],
    },
  };
}

type Received = Omit<ViolationImage, 'contentType'> & { readonly contentType: string | null };
type Ending = { readonly kind: 'whole' } | Broken;

class Reading {
  readonly fields = new Map<string, string>();
  readonly images: Promise<Received | null>[] = [];
  readonly faults: FieldRule[] = [];
  #imageBytes = 0;
  #formBytes = 0;
  /** Parts that the parser has told of. */
  #partsTold = 0;
  #isOverLimit = false;

  constructor(private readonly upload: Upload) {}

  /** Resolves with how it ended, at once when it cannot go on. */
  run(request: IncomingMessage): Promise<Ending> {
    const boundary = boundaryOf(request.headers['content-type']);
    const parts = parserOf(request);
    if (!parts || boundary === null) return Promise.resolve({ kind: 'broken' });
    const partCount = new PartCount(boundary);
    return new Promise((resolve) => {
      const count = (piece: Uint8Array) => {
        this.#formBytes += piece.length;
        if (this.#formBytes > FORM_BYTES_MAX) return end({ kind: 'too_large' });
        partCount.push(piece);
        if (partCount.goesOnBehindEnd) end({ kind: 'broken' });
      };
      /** The first ending counts. */
      const end = (ending: Ending) => {
        resolve(ending);
        request.off('data', count).unpipe(parts);
        parts.destroy();
      };
      // A request is destroyed after its last byte was read, too.
      const onGone = () => {
        if (!request.readableEnded) end({ kind: 'gone' });
      };
      parts.on('field', (name: string | undefined, value: string | undefined, { valueTruncated }) => {
        this.#partsTold += 1;
        this.#field(name, value, valueTruncated);
      });
      parts.on('file', (name: string | undefined, stream, { filename }) => {
        // A destroyed parser still reads the rest of its piece. A file that begins there would never end.
        if (parts.destroyed) {
          stream.on('error', () => {}).destroy();
          return;
        }
        this.#partsTold += 1;
        const image = this.#file(name, stream, filename);
        if (!image) return;
        image.catch((error: unknown) => end(endingOf(error)));
        this.images.push(image);
      });
      parts.on('fieldsLimit', () => this.#overLimit('body', `must have at most ${LIMITS.fields} fields`));
      parts.on('filesLimit', () => this.#overLimit(IMAGES, `must be at most ${LIMITS.files} files`));
      parts.on('error', (error) => end({ kind: errorText(error) === MALFORMED_HEAD ? 'part_unreadable' : 'broken' }));
      parts.on('close', () => {
        if (!this.#isOverLimit && this.#partsTold !== partCount.parts) return end({ kind: 'part_unreadable' });
        Promise.all(this.images).then(
          () => end({ kind: 'whole' }),
          () => {},
        );
      });
      request.once('error', onGone).once('close', onGone);
      request.on('data', count).pipe(parts);
      // A request that was destroyed earlier emits nothing more.
      if (request.destroyed) onGone();
    });
  }

  #field(name: string | undefined, value: string | undefined, isCut: boolean): void {
    if (name === undefined) return this.#fault('body', 'must not have parts without a name');
    if (value === undefined) return this.#fault(name, 'must be text in a known character set');
    if (isCut) return this.#fault(name, `must be at most ${LIMITS.fieldSize} bytes`);
    if (this.fields.has(name)) return this.#fault(name, 'must be given once');
    // A text under the name of the files is told as what it is; one left empty says nothing.
    if (name !== IMAGES) this.fields.set(name, value);
    else if (value.trim() !== '') this.#fault(IMAGES, 'must be files');
  }

  #file(name: string | undefined, stream: Readable, fileName: string | undefined): Promise<Received | null> | null {
    if (name === IMAGES) return this.#receive(stream, fileName);
    const refuse = () => this.#fault(name ?? 'body', 'is not a known file');
    stream.on('error', () => {});
    // Without a name and without a byte it is a file input that nobody filled in.
    if (fileName === undefined) stream.once('data', refuse);
    else refuse();
    stream.resume();
    return null;
  }

  async #receive(stream: Readable, fileName: string | undefined): Promise<Received | null> {
    const pieces = this.#counted(stream);
    const first = await pieces.next();
    // What a browser sends for a file input that nobody filled in.
    if (first.done === true && fileName === undefined) return null;
    const number = this.images.length + 1;
    const stored = await this.upload.write(first.done === true ? pieces : startingWith(first.value, pieces));
    return { ...stored, name: safeName(fileName) ?? `image-${number}` };
  }

  async *#counted(stream: Readable): AsyncGenerator<Uint8Array, void, undefined> {
    const bytes: AsyncIterable<Uint8Array> = stream;
    const iterator = bytes[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await iterator.next().catch(() => {
          throw new BrokenForm();
        });
        if (next.done === true) return;
        this.#imageBytes += next.value.length;
        if (this.#imageBytes > IMAGES_TOTAL_BYTES_MAX) throw new TooLarge();
        yield next.value;
      }
    } finally {
      stream.on('error', () => {}).destroy();
    }
  }

  #overLimit(field: string, rule: string): void {
    this.#isOverLimit = true;
    this.#fault(field, rule);
  }

  #fault(field: string, rule: string): void {
    this.faults.push({ field: field.slice(0, NAME_MAX), rule });
  }
}

async function* startingWith(first: Uint8Array, rest: AsyncGenerator<Uint8Array, void, undefined>) {
  yield first;
  yield* rest;
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

function endingOf(error: unknown): Ending {
  if (error instanceof TooLarge) return { kind: 'too_large' };
  return error instanceof BrokenForm ? { kind: 'broken' } : { kind: 'not_stored', error };
}

/** Null when the content type names no boundary. */
function parserOf(request: IncomingMessage): busboy.Busboy | null {
  try {
    return busboy({ headers: request.headers, defParamCharset: 'utf8', limits: LIMITS });
  } catch {
    return null;
  }
}

/** The name of a file as it was uploaded, without what would break a line or a header; null when nothing is left. */
function safeName(name: string | undefined): string | null {
  const safe = (name ?? '')
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, NAME_MAX);
  return safe === '' ? null : safe;
}
