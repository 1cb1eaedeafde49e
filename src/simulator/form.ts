import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import type { ImageSummary } from './world';

export interface Form {
  /** Text fields; of a repeated one the last. */
  readonly fields: Readonly<Record<string, string>>;
  readonly images: readonly ImageSummary[];
}

/** Much more than any real form; only limits the memory. */
const LIMITS = { fields: 200, fieldSize: 65_536, parts: 1200 };

/**
 * Reads a multipart form to its end. Images are counted and hashed as they arrive and not kept. An invalid or truncated
 * form has no fields. Throws when the client disconnects.
 */
export async function readForm(request: IncomingMessage): Promise<Form> {
  const fields = new Map<string, string>();
  const images: ImageSummary[] = [];
  const parts = parser(request);
  if (!parts) {
    request.resume();
    return { fields: {}, images: [] };
  }
  parts.on('field', (name, value) => fields.set(name, value));
  parts.on('file', (field, file, info) => summarize({ field, file, name: info.filename ?? null }, images));
  const isWhole = await readToEnd(request, parts);
  return isWhole ? { fields: Object.fromEntries(fields), images } : { fields: {}, images: [] };
}

/** True for a complete form. The rest of an invalid one is read too, so that the client can be answered. */
function readToEnd(request: IncomingMessage, parts: busboy.Busboy): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let isBroken = false;
    parts.on('close', () => {
      if (!isBroken) resolve(true);
    });
    parts.on('error', () => {
      isBroken = true;
      request.unpipe(parts);
      request.resume();
      if (request.readableEnded) resolve(false);
      else request.once('end', () => resolve(false));
    });
    request.once('close', () => {
      if (request.complete) return;
      parts.destroy();
      reject(new Error('the client went away'));
    });
    request.pipe(parts);
  });
}

/** Null when the body is no multipart form or names no boundary. */
function parser(request: IncomingMessage): busboy.Busboy | null {
  if (!/^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '')) return null;
  try {
    return busboy({ headers: request.headers, defParamCharset: 'utf8', limits: LIMITS });
  } catch {
    return null;
  }
}

function summarize(image: { field: string; file: Readable; name: string | null }, images: ImageSummary[]): void {
  const hash = createHash('sha256');
  let size = 0;
  image.file.on('data', (chunk: Buffer) => {
    size += chunk.length;
    hash.update(chunk);
  });
  // The form reports that it ended early. The part of the image that arrived is no image.
  image.file.on('error', () => {});
  image.file.on('end', () => images.push({ field: image.field, name: image.name, size, sha256: hash.digest('hex') }));
}
