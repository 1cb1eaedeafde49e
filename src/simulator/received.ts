import type { Request } from 'express';
import type { Operation } from '../contracts/operations';
import { parseJson, type Fields } from './fields';
import { readForm } from './form';
import type { ImageSummary } from './world';

/** A request as the simulator read it. */
export interface Received {
  /** Its fields: of the JSON body, the form (as text) or the query. */
  readonly fields: Fields;
  readonly images: readonly ImageSummary[];
  /** What the list of calls shows as its body: the JSON value, else the text, else the form; null without a body. */
  readonly shown: unknown;
}

/** Far above any real body; it only bounds the memory. */
const BODY_BYTES_MAX = 65_536;

/** Reads a whole request; throws when the client goes away before its end. */
export async function receive(request: Request, encoding: Operation['encoding']): Promise<Received> {
  switch (encoding) {
    case 'form': {
      const { fields, images } = await readForm(request);
      return { fields, images, shown: { ...fields, images } };
    }
    case 'json': {
      const text = await readText(request);
      const value = parseJson(text);
      return { fields: fieldsOf(value), images: [], shown: value === undefined ? (text === '' ? null : text) : value };
    }
    case 'query':
      request.resume();
      return { fields: fieldsOf(request.query), images: [], shown: null };
    case 'credentials':
      request.resume();
      return { fields: {}, images: [], shown: null };
  }
}

function fieldsOf(value: unknown): Fields {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? Object.fromEntries(Object.entries(value)) : {};
}

/** Reads the body as text; what exceeds the limit is read and dropped, so that the answer can still be sent. */
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
