import type { Operation } from '../contracts/operations';
import { encodeForm, type Content, type ViolationImage } from './encode-form';

/** A request as it travels, without the headers that say who sends it. */
export interface EncodedRequest {
  readonly method: Operation['method'];
  /** The operation's path with its query; appended to the base address. */
  readonly path: string;
  /**
   * Makes the body for one attempt; asked again for the next, since a stream can be sent only once.
   * Throws a TransportFailure when an image cannot be read.
   */
  open(): Content | Promise<Content>;
}

/** Axios would name a type for the body that is not there; false keeps it from doing so. */
const NO_TYPE = { 'Content-Type': false } as const;

/**
 * Writes a request the way its operation's row says (service-api 4): JSON with the fields in the order given, a
 * multipart form, a query, or, for the token call, nothing but headers.
 */
export function encode(operation: Operation, request: unknown, images: readonly ViolationImage[] = []): EncodedRequest {
  const { method, path } = operation;
  switch (operation.encoding) {
    case 'json': {
      const data = JSON.stringify(request);
      const headers = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(data)) };
      return { method, path, open: () => ({ headers, data }) };
    }
    case 'form': {
      const fields = textFields(request);
      return { method, path, open: () => encodeForm(fields, images) };
    }
    case 'query':
      return { method, path: `${path}?${queryOf(request)}`, open: () => ({ headers: NO_TYPE, data: undefined }) };
    case 'credentials': {
      const headers = { ...NO_TYPE, 'Content-Length': '0' };
      return { method, path, open: () => ({ headers, data: undefined }) };
    }
  }
}

function queryOf(request: unknown): string {
  // A plus is read as a space by some servers and as a plus by others; %20 means the same to all.
  return new URLSearchParams(textFields(request)).toString().replaceAll('+', '%20');
}

/** Fields as text: numbers and booleans in their JSON spelling, objects JSON-encoded (service-api 2.1, metadata). */
function textFields(request: unknown): [string, string][] {
  if (typeof request !== 'object') return [];
  return Object.entries<unknown>({ ...request })
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
}
