import type { IncomingMessage } from 'node:http';
import { IMAGES_TOTAL_BYTES_MAX } from '../contracts/service';
import type { JsonObject } from '../domain/vocabulary';
import { errorFacts, type Log } from '../platform/log';
import type { Spool, Upload } from '../workflow/spool-port';
import { FORM_ALLOWANCE_BYTES, FORM_BYTES_MAX, readForm, type Form, type FormNotRead } from './read-form';
import { problem, refused, type Refused } from './said';

export interface FormTools {
  readonly spool: Spool;
  readonly log: Log;
}

/** A form whose images lie in the spool, to be kept or discarded by whoever asked for it. */
export interface ReceivedForm extends Form {
  readonly upload: Upload;
}

/** A form, or why there is none and what came of its fields all the same; then nothing of it is left on the disk. */
export type Received =
  | { readonly kind: 'received'; readonly form: ReceivedForm }
  | (Refused & Pick<Form, 'fields'>)
  /** The client went away: nobody is there to be answered. */
  | ({ readonly kind: 'gone' } & Pick<Form, 'fields'>);

const IMAGES_TOO_LARGE = refused(413, {
  code: 'images_too_large',
  message: `Images may have at most ${IMAGES_TOTAL_BYTES_MAX} bytes (10 MiB) in all, and the rest of the form ${FORM_ALLOWANCE_BYTES}.`,
  details: [{ field: 'images', rule: `must be at most ${IMAGES_TOTAL_BYTES_MAX} bytes in all` }],
});
const NOT_MULTIPART = refused(415, { code: 'not_multipart', message: 'This address takes multipart/form-data.' });
const PART_UNREADABLE = 'a part cannot be read: its Content-Disposition must be form-data with a name';
/** The disk may be back, or the right one be there, after so long. */
const NOT_STORED_RETRY_MS = 30_000;

/**
 * Takes a multipart form in. A form whose length tells that it is too large is refused before its first byte, unless its
 * fields are wanted all the same (`wantsFields`): then it is read as far as it may go.
 */
export async function receiveForm(
  { request, wantsFields }: { request: IncomingMessage; wantsFields: boolean },
  { spool, log }: FormTools,
): Promise<Received> {
  if (!/^multipart\/form-data\s*(;|$)/i.test(request.headers['content-type'] ?? '')) return unread(NOT_MULTIPART);
  if (!wantsFields && Number(request.headers['content-length'] ?? 0) > FORM_BYTES_MAX) return unread(IMAGES_TOO_LARGE);
  const state = await spool.state();
  if (state !== 'shared') {
    log.error('spool.refused', { spool: state });
    return unread(notStored(`the folder for images is ${state}`));
  }
  const upload = await beginUpload({ spool, log });
  if (!upload) return unread(notStored('the disk does not take them'));
  const result = await readForm(request, upload);
  if (result.kind === 'read') return { kind: 'received', form: { ...result.form, upload } };
  await upload.discard();
  return notReceived(result, log);
}

async function beginUpload({ spool, log }: FormTools): Promise<Upload | null> {
  try {
    return await spool.begin();
  } catch (error) {
    log.error('spool.failed', errorFacts(error));
    return null;
  }
}

function notReceived(result: FormNotRead, log: Log): Received {
  const { fields } = result;
  switch (result.kind) {
    case 'too_large':
      return { ...IMAGES_TOO_LARGE, fields };
    case 'broken':
      return {
        ...refused(400, {
          code: 'form_broken',
          message: 'The body is not a whole multipart form.',
          details: [{ field: 'body', rule: 'must be a multipart form' }],
        }),
        fields,
      };
    case 'part_unreadable':
      return {
        ...refused(400, {
          code: 'form_broken',
          message: 'A part of the form cannot be read, and nothing of the form was taken in.',
          details: [{ field: 'body', rule: PART_UNREADABLE }],
        }),
        fields,
      };
    case 'not_stored':
      log.error('spool.failed', errorFacts(result.error));
      return { ...notStored('the disk does not take them'), fields };
    case 'gone':
      return { kind: 'gone', fields };
  }
}

function unread(refusal: Refused): Received {
  return { ...refusal, fields: {} };
}

function notStored(because: string): Refused {
  return problem({
    httpStatus: 503,
    error: {
      code: 'images_not_stored',
      message: `Images cannot be stored right now: ${because}. Nothing was taken in; send it again.`,
    },
    retryAfterMs: NOT_STORED_RETRY_MS,
  });
}

/** What tells this form from another one: its fields, and its images by what is in them. */
export function askedBy({ fields, images, faults }: Form): JsonObject {
  return {
    fields: { ...fields },
    images: images.map(({ name, sizeBytes, sha256 }) => ({ name, size_bytes: sizeBytes, sha256 })),
    faults: faults.length,
  };
}
