import type { Request } from 'express';
import type { Operation } from '../contracts/service/operations';
import { parseJson, type RequestFields } from './fields';
import { readForm } from './form';
import type { ImageSummary } from './world';

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
