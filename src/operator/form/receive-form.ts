import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '../../domain/vocabulary';
import { errorFacts } from '../../platform/errors';
import type { Log } from '../../platform/log/log';
import type { Spool, Upload } from '../../workflow/ops/spool-port';
import { FORM_ALLOWANCE_BYTES, readForm, type FormNotRead, type ParsedForm } from './read-form';
import { refusedResponse, type RefusedResponse } from '../responses';

export interface FormTools {
  readonly spool: Spool;
  readonly imagesTotalBytesMax: number;
  readonly log: Log;
}

/** A form whose images are in the spool. The caller keeps or discards the upload. */
export interface ReceivedForm extends ParsedForm {
  readonly upload: Upload;
}

/** The form, or the rejection with the fields read so far; its uploads are already deleted. */
export type FormResult =
  | { readonly kind: 'received'; readonly form: ReceivedForm }
  | (RefusedResponse & Pick<ParsedForm, 'fields'>)
  | ({ readonly kind: 'client_gone' } & Pick<ParsedForm, 'fields'>);

const imagesTooLarge = (mostBytes: number): RefusedResponse =>
  refusedResponse(413, {
    code: 'images_too_large',
    message: `All images together may have at most ${mostBytes} bytes, and the rest of the form ${FORM_ALLOWANCE_BYTES} bytes.`,
    details: [{ field: 'images', rule: `must be at most ${mostBytes} bytes in all` }],
  });
const NOT_MULTIPART = refusedResponse(415, {
  code: 'not_multipart',
  message: 'The content type must be multipart/form-data.',
});
const PART_UNREADABLE = 'a part cannot be read: its Content-Disposition must be form-data with a name';
const NOT_STORED_RETRY_MS = 30_000;

/** Reads the files of a form without storing them. */
const DISCARDING: Upload = {
  async write(bytes) {
    let sizeBytes = 0;
    for await (const piece of bytes) sizeBytes += piece.length;
    return { file: '', sizeBytes, sha256: '', contentType: null };
  },
  keep: () => Promise.reject(new Error('the files were not stored')),
  discard: () => Promise.resolve(),
  takeBack: () => Promise.resolve(),
};

/**
 * Reads a multipart form into the spool. A form whose Content-Length is over the limit is refused before its body is
 * read, and so is every form while images cannot be stored. With `needsFields` its body is read up to the limit, so that
 * a page can show the fields again.
 */
export async function receiveForm(
  { request, needsFields }: { request: IncomingMessage; needsFields: boolean },
  { spool, imagesTotalBytesMax, log }: FormTools,
): Promise<FormResult> {
  if (!/^multipart\/form-data\s*(;|$)/i.test(request.headers['content-type'] ?? '')) return unread(NOT_MULTIPART);
  const formBytes = Number(request.headers['content-length'] ?? 0);
  if (!needsFields && formBytes > imagesTotalBytesMax + FORM_ALLOWANCE_BYTES) {
    return unread(imagesTooLarge(imagesTotalBytesMax));
  }
  const refuseUnstored = async (refusal: RefusedResponse): Promise<FormResult> => {
    if (!needsFields) return unread(refusal);
    const result = await readForm(request, DISCARDING, imagesTotalBytesMax);
    if (result.kind === 'client_gone') return notReceived(result, { imagesTotalBytesMax, log });
    return { ...refusal, fields: result.kind === 'read' ? result.form.fields : result.fields };
  };
  const state = await spool.state();
  if (state !== 'shared') {
    log.error('spool.refused', { spool: state, problem: spool.problem() });
    return refuseUnstored(notStored(`the image folder is ${state}`));
  }
  const upload = await beginUpload(spool, log);
  if (!upload) return refuseUnstored(notStored('the disk cannot be written'));
  const result = await readForm(request, upload, imagesTotalBytesMax);
  if (result.kind === 'read') return { kind: 'received', form: { ...result.form, upload } };
  await upload.discard();
  return notReceived(result, { imagesTotalBytesMax, log });
}

async function beginUpload(spool: Spool, log: Log): Promise<Upload | null> {
  try {
    return await spool.begin();
  } catch (error) {
    log.error('spool.failed', errorFacts(error));
    return null;
  }
}

function notReceived(
  result: FormNotRead,
  { imagesTotalBytesMax, log }: Pick<FormTools, 'imagesTotalBytesMax' | 'log'>,
): FormResult {
  const { fields } = result;
  switch (result.kind) {
    case 'too_large':
      return { ...imagesTooLarge(imagesTotalBytesMax), fields };
    case 'broken':
      return {
        ...refusedResponse(400, {
          code: 'form_broken',
          message: 'The body is not a complete multipart form. Nothing was stored.',
          details: [{ field: 'body', rule: 'must be a multipart form' }],
        }),
        fields,
      };
    case 'part_unreadable':
      return {
        ...refusedResponse(400, {
          code: 'form_broken',
          message: 'A part of the form cannot be read. Nothing was stored.',
          details: [{ field: 'body', rule: PART_UNREADABLE }],
        }),
        fields,
      };
    case 'not_stored':
      log.error('spool.failed', errorFacts(result.error));
      return { ...notStored('the disk cannot be written'), fields };
    case 'client_gone':
      return { kind: 'client_gone', fields };
  }
}

function unread(refusal: RefusedResponse): FormResult {
  return { ...refusal, fields: {} };
}

function notStored(cause: string): RefusedResponse {
  const message = `Images cannot be stored now: ${cause}. Nothing was stored. Send the form again later.`;
  return refusedResponse(503, { code: 'images_not_stored', message }, NOT_STORED_RETRY_MS);
}

/** The content by which two forms are compared under one Idempotency-Key: the fields, and the images by their hash. */
export function contentOf({ fields, images, faults }: ParsedForm): JsonObject {
  return {
    fields: { ...fields },
    images: images.map(({ name, sizeBytes, sha256 }) => ({ name, size_bytes: sizeBytes, sha256 })),
    faults: faults.length,
  };
}
