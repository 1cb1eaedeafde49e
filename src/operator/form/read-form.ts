import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { ACCEPT_DAMAGED_IMAGES, FORM_IMAGES_MAX } from '../../contracts/common';
import type { FieldRule } from '../../domain/refusal';
import type { ViolationImage } from '../../domain/violation/violation';
import type { SpooledFile, Upload } from '../../workflow/ops/spool-port';
import { boundaryOf, PartCount } from './count-parts';

/**
 * Reads multipart forms with busboy. @fastify/busboy was tried and does not fit: it drops a part with a malformed header
 * without an error, and reads `filename="the "big" car.png"` as `the `.
 */

/** A multipart form: its fields as text, its images in the spool. */
export interface ParsedForm {
  readonly fields: Readonly<Record<string, string>>;
  /** In the order of the form. Files that are no image, or a damaged one, are reported in `faults`. */
  readonly images: readonly ViolationImage[];
  readonly faults: readonly FieldRule[];
}

/**
 * - too_large: the images, or the form as a whole, have too many bytes.
 * - broken: not a multipart form, or it ends early.
 * - part_unreadable: a part has no readable name, so it is neither a field nor a file.
 * - client_gone: the client disconnected.
 * - not_stored: the images cannot be written to the disk.
 */
export type FormRead = { readonly kind: 'read'; readonly form: ParsedForm } | FormNotRead;

/** `fields` holds the fields before the failure. */
export type FormNotRead = FormReadFailure & Pick<ParsedForm, 'fields'>;

type FormReadFailure =
  | { readonly kind: 'too_large' | 'broken' | 'part_unreadable' | 'client_gone' }
  | { readonly kind: 'not_stored'; readonly error: unknown };

/** The only field name for files (docs/service-api.md#violation-form). */
const IMAGES = 'images';
/** Bytes for the fields and part headers, in addition to the images. */
export const FORM_ALLOWANCE_BYTES = 256 * 1024;
/**
 * Bounds on memory, far above any real form.
 *
 * Open question Q31: the largest number of images is not documented; only their total size is limited as the service's.
 */
const LIMITS = { fields: 50, fieldSize: 70_000, files: FORM_IMAGES_MAX };
const NAME_MAX = 200;

/** Read here, since it is about the files: no contract of a form has it. */
const ACCEPTS: Readonly<Record<string, boolean>> = { '': false, false: false, true: true };
const DAMAGED_IMAGE = `is cut off or damaged: send a whole copy, or ${ACCEPT_DAMAGED_IMAGES}=true`;
const NOT_AN_IMAGE = 'must be a whole image: JPEG, PNG, WebP, GIF, BMP, TIFF, HEIC, HEIF or AVIF';
/** The message of busboy's error for a part whose header block cannot be parsed. */
const MALFORMED_HEADER = 'Malformed part header';

class ImagesTooLarge extends Error {}
class FormCutOff extends Error {}

/** Reads a form and streams its images to the upload. Never rejects. The caller discards the upload after a failure. */
export async function readForm(
  request: IncomingMessage,
  upload: Upload,
  imagesTotalBytesMax: number,
): Promise<FormRead> {
  const reader = new FormReader(upload, imagesTotalBytesMax);
  const end = await reader.run(request);
  // The upload must not be discarded while a write is under way.
  const settled = await Promise.allSettled(reader.images);
  const { [ACCEPT_DAMAGED_IMAGES]: entered = '', ...fields } = Object.fromEntries(reader.fields);
  if (end.kind !== 'complete') return { ...end, fields };
  const images = settled.flatMap((image) => (image.status === 'fulfilled' && image.value ? [image.value] : []));
  const accepts = ACCEPTS[entered.trim()];
  const wrongFlag = { field: ACCEPT_DAMAGED_IMAGES, rule: 'must be one of true, false' };
  const wrongImages = images.flatMap(({ contentType, isDamaged }, index) => {
    if (contentType !== null && !(isDamaged === true && accepts === false)) return [];
    return [{ field: `${IMAGES}.${index + 1}`, rule: contentType === null ? NOT_AN_IMAGE : DAMAGED_IMAGE }];
  });
  return {
    kind: 'read',
    form: {
      fields,
      images: images.flatMap(({ contentType, isDamaged, ...image }) =>
        contentType === null ? [] : [{ ...image, contentType, ...(isDamaged === true && { isDamaged }) }],
      ),
      faults: [...reader.faults, ...(accepts === undefined ? [wrongFlag] : []), ...wrongImages],
    },
  };
}

/** `contentType` is null for a file that is not an image. */
type StoredFile = SpooledFile & Pick<ViolationImage, 'name'>;
type FormEnd = { readonly kind: 'complete' } | FormReadFailure;

class FormReader {
  readonly fields = new Map<string, string>();
  readonly images: Promise<StoredFile | null>[] = [];
  readonly faults: FieldRule[] = [];
  #imageBytes = 0;
  #formBytes = 0;
  /** Parts that busboy has reported. */
  #partsReported = 0;
  #isOverLimit = false;

  constructor(
    private readonly upload: Upload,
    private readonly imagesTotalBytesMax: number,
  ) {}

  /** Resolves at the end of the form, or at the first failure. */
  run(request: IncomingMessage): Promise<FormEnd> {
    const boundary = boundaryOf(request.headers['content-type']);
    const parts = parserOf(request);
    if (!parts || boundary === null) return Promise.resolve({ kind: 'broken' });
    const partCount = new PartCount(boundary);
    return new Promise((resolve) => {
      const count = (piece: Uint8Array) => {
        this.#formBytes += piece.length;
        if (this.#formBytes > this.imagesTotalBytesMax + FORM_ALLOWANCE_BYTES) return end({ kind: 'too_large' });
        partCount.push(piece);
        if (partCount.hasPartAfterEnd) end({ kind: 'broken' });
      };
      /** Only the first call has an effect. */
      const end = (result: FormEnd) => {
        resolve(result);
        request.off('data', count).unpipe(parts);
        parts.destroy();
      };
      // A request also closes after its last byte was read.
      const onClose = () => {
        if (!request.readableEnded) end({ kind: 'client_gone' });
      };
      parts.on('field', (name: string | undefined, value: string | undefined, { valueTruncated }) => {
        this.#partsReported += 1;
        this.#field(name, value, valueTruncated);
      });
      parts.on('file', (name: string | undefined, stream, { filename }) => {
        // A destroyed parser still parses the rest of its chunk. A file that begins there would never end.
        if (parts.destroyed) {
          stream.on('error', () => {}).destroy();
          return;
        }
        this.#partsReported += 1;
        const image = this.#file(name, stream, filename);
        if (!image) return;
        image.catch((error: unknown) => end(endOf(error)));
        this.images.push(image);
      });
      parts.on('fieldsLimit', () => this.#overLimit('body', `must have at most ${LIMITS.fields} fields`));
      parts.on('filesLimit', () => this.#overLimit(IMAGES, `must be at most ${LIMITS.files} files`));
      parts.on('error', (error) => end({ kind: errorText(error) === MALFORMED_HEADER ? 'part_unreadable' : 'broken' }));
      parts.on('close', () => {
        if (!this.#isOverLimit && this.#partsReported !== partCount.parts) return end({ kind: 'part_unreadable' });
        Promise.all(this.images).then(
          () => end({ kind: 'complete' }),
          () => {},
        );
      });
      request.once('error', onClose).once('close', onClose);
      request.on('data', count).pipe(parts);
      // A request that is already destroyed emits no further events.
      if (request.destroyed) onClose();
    });
  }

  #field(name: string | undefined, value: string | undefined, isTruncated: boolean): void {
    if (name === undefined) return this.#fault('body', 'must not have parts without a name');
    // A file without a name arrives as text. It is a fault, unless it is empty.
    if (name === IMAGES) {
      if (value?.trim() !== '') this.#fault(IMAGES, 'must be files, with a file name');
      return;
    }
    if (value === undefined) return this.#fault(name, 'must be text in a known character set');
    // What busboy puts in the place of bytes that it cannot decode.
    if (value.includes('\uFFFD')) return this.#fault(name, 'must be well-formed Unicode text');
    if (isTruncated) return this.#fault(name, `must be at most ${LIMITS.fieldSize} bytes`);
    if (this.fields.has(name)) return this.#fault(name, 'must be given once');
    this.fields.set(name, value);
  }

  #file(name: string | undefined, stream: Readable, fileName: string | undefined): Promise<StoredFile | null> | null {
    if (name === IMAGES) return this.#receive(stream, fileName);
    const refuse = () => this.#fault(name ?? 'body', 'is not a known file');
    stream.on('error', () => {});
    // Browsers send an empty file without a name for a file input without a selection.
    if (fileName === undefined) stream.once('data', refuse);
    else refuse();
    stream.resume();
    return null;
  }

  async #receive(stream: Readable, fileName: string | undefined): Promise<StoredFile | null> {
    const pieces = this.#counted(stream);
    const first = await pieces.next();
    // A file input without a selection.
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
          throw new FormCutOff();
        });
        if (next.done === true) return;
        this.#imageBytes += next.value.length;
        if (this.#imageBytes > this.imagesTotalBytesMax) throw new ImagesTooLarge();
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

function endOf(error: unknown): FormEnd {
  if (error instanceof ImagesTooLarge) return { kind: 'too_large' };
  return error instanceof FormCutOff ? { kind: 'broken' } : { kind: 'not_stored', error };
}

/** Null when the content type names no boundary. */
function parserOf(request: IncomingMessage): busboy.Busboy | null {
  try {
    return busboy({ headers: request.headers, defParamCharset: 'utf8', limits: LIMITS });
  } catch {
    return null;
  }
}

/** The file name of the upload without control characters, at most 200 characters; null when nothing is left. */
function safeName(name: string | undefined): string | null {
  const safe = (name ?? '')
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, NAME_MAX);
  return safe === '' ? null : safe;
}
