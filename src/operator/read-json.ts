import { isUtf8 } from 'node:buffer';
import express, { type Request, type Response } from 'express';
import { JSON_BODY_BYTES_MAX } from './responses';

const parse = express.json({
  type: () => true,
  limit: JSON_BODY_BYTES_MAX,
  verify(_request, _response, bytes, charset) {
    // Decoding would replace every invalid byte by the same character, and that would be reported.
    if (charset === 'utf-8' && !isUtf8(bytes)) throw new NotUtf8();
  },
});

class NotUtf8 extends Error {
  readonly status = 400;
}

/**
 * Reads the JSON body of a request; an empty object without one. Rejects with an error that has a `status` when it is too
 * large, not JSON in UTF-8, or in another encoding (see `answerError`).
 */
export async function readJson(request: Request, response: Response): Promise<unknown> {
  await new Promise<void>((resolve, reject) => {
    parse(request, response, (error: unknown) => {
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error('the body cannot be read'));
    });
  });
  const body: unknown = request.body;
  return body ?? {};
}
