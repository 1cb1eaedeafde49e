import type { Request, Response } from 'express';
import { IMAGES_TOTAL_BYTES_MAX } from '../contracts/service';
import type { JsonObject } from '../domain/vocabulary';
import { errorFacts, type Log } from '../platform/log';
import type { Spool, Upload } from '../workflow/spool-port';
import { FORM_ALLOWANCE_BYTES, FORM_BYTES_MAX, readForm, type Form } from './read-form';
import { sendError } from './reply';

export interface FormTools {
  readonly spool: Spool;
  readonly log: Log;
}

/** A form whose images lie in the spool, to be kept or discarded by whoever asked for it. */
export interface ReceivedForm extends Form {
  readonly upload: Upload;
  /** What tells this form from another one: its fields, and its images by what is in them. */
  readonly asked: JsonObject;
}

const IMAGES_TOO_LARGE = {
  code: 'images_too_large',
  message: `Images may have at most ${IMAGES_TOTAL_BYTES_MAX} bytes (10 MiB) in all, and the rest of the form ${FORM_ALLOWANCE_BYTES}.`,
  details: [{ field: 'images', rule: `must be at most ${IMAGES_TOTAL_BYTES_MAX} bytes in all` }],
};

const PART_UNREADABLE = 'a part cannot be read: its Content-Disposition must be form-data with a name';

/** Takes a multipart form in, or answers why not and returns null; then nothing of it is left. */
export async function receiveForm(
  { request, response }: { request: Request; response: Response },
  { spool, log }: FormTools,
): Promise<ReceivedForm | null> {
  if (!/^multipart\/form-data\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
    const message = 'This address takes multipart/form-data.';
    sendError(response, 415, { code: 'not_multipart', message });
    return null;
  }
  if (Number(request.headers['content-length'] ?? 0) > FORM_BYTES_MAX) {
    sendError(response, 413, IMAGES_TOO_LARGE);
    return null;
  }
  const state = await spool.state();
  if (state !== 'shared') {
    log.error('spool.refused', { spool: state });
    sendNotStored(response, `the folder for images is ${state}`);
    return null;
  }
  const upload = await beginUpload(response, { spool, log });
  return upload && readInto(upload, { request, response }, log);
}

async function beginUpload(response: Response, { spool, log }: FormTools): Promise<Upload | null> {
  try {
    return await spool.begin();
  } catch (error) {
    log.error('spool.failed', errorFacts(error));
    sendNotStored(response, 'the disk does not take them');
    return null;
  }
}

async function readInto(
  upload: Upload,
  { request, response }: { request: Request; response: Response },
  log: Log,
): Promise<ReceivedForm | null> {
  const result = await readForm(request, upload);
  if (result.kind === 'read') return { ...result.form, upload, asked: askedBy(result.form) };
  await upload.discard();
  switch (result.kind) {
    case 'too_large':
      sendError(response, 413, IMAGES_TOO_LARGE);
      break;
    case 'broken':
      sendError(response, 400, {
        code: 'form_broken',
        message: 'The body is not a whole multipart form.',
        details: [{ field: 'body', rule: 'must be a multipart form' }],
      });
      break;
    case 'part_unreadable':
      sendError(response, 400, {
        code: 'form_broken',
        message: 'A part of the form cannot be read, and nothing of the form was taken in.',
        details: [{ field: 'body', rule: PART_UNREADABLE }],
      });
      break;
    case 'not_stored':
      log.error('spool.failed', errorFacts(result.error));
      sendNotStored(response, 'the disk does not take them');
      break;
    case 'gone':
      // Nobody is there to be answered; this only ends the exchange.
      response.destroy();
      break;
  }
  return null;
}

function sendNotStored(response: Response, because: string): void {
  response.set('retry-after', '30');
  sendError(response, 503, {
    code: 'images_not_stored',
    message: `Images cannot be stored right now: ${because}. Nothing was taken in; send it again.`,
  });
}

function askedBy({ fields, images, faults }: Form): JsonObject {
  return {
    fields: { ...fields },
    images: images.map(({ name, sizeBytes, sha256 }) => ({ name, size_bytes: sizeBytes, sha256 })),
    faults: faults.length,
  };
}
