import type { Request } from 'express';
import type { Operation } from '../contracts/service/operations';
import { parseJson, type RequestFields } from './fields';
import type { ImageSummary } from './world';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import busboy from 'busboy';

/** A parsed request. */
export interface ReceivedRequest {
  /** The fields of the JSON body, the form (as text) or the query; none when the content type is another one. */
  readonly fields: RequestFields;
  readonly images: readonly ImageSummary[];
  /** The body in the list of calls: the JSON value, else the text, else the form; null without a body. */
  readonly shown: unknown;
}

/** Much more than any real body; only limits the memory. */
const BODY_BYTES_MAX = 65_536;

/** Reads a whole request. Throws when the client disconnects. */
export async function receive(request: Request, encoding: Operation['encoding']): Promise<ReceivedRequest> {
  switch (encoding) {
    case 'form': {
      const { fields, images } = await readForm(request);
      return { fields, images, shown: { ...fields, images } };
    }
    case 'json': {
      const text = await readText(request);
      const value = parseJson(text);
      const isJson = /^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? '');
      return {
        fields: isJson ? fieldsOf(value) : {},
        images: [],
        shown: value === undefined ? (text === '' ? null : text) : value,
      };
    }
    case 'query':
      request.resume();
      return { fields: fieldsOf(request.query), images: [], shown: null };
    case 'credentials':
      request.resume();
      return { fields: {}, images: [], shown: null };
  }
}

/** The fields with numeric references as text, for a service whose references are numbers. */
export function withTextReferences(fields: RequestFields): RequestFields {
  const asText = ([name, value]: [string, unknown]): [string, unknown] =>
    name.endsWith('_reference_id') && typeof value === 'number' ? [name, String(value)] : [name, value];
  return Object.fromEntries(Object.entries(fields).map(asText));
}

function fieldsOf(value: unknown): RequestFields {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? Object.fromEntries(Object.entries(value)) : {};
}

/** Reads the body as text. Bytes over the limit are read and dropped, so that the answer can still be sent. */
async function readText(request: Request): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const piece = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    bytes += piece.length;
    if (bytes <= BODY_BYTES_MAX) chunks.push(piece);
  }
  return Buffer.concat(chunks).toString();
}

interface Form {
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
async function readForm(request: IncomingMessage): Promise<Form> {
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
