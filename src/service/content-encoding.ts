import { brotliDecompressSync, gunzipSync, inflateSync, type ZlibOptions } from 'node:zlib';

/**
 * Answers that are compressed although towhook asks for `identity`: some gateways compress every answer, and without
 * this none of them would count as an answer of the service.
 */

const DECODERS: ReadonlyMap<string, (bytes: Buffer, options: ZlibOptions) => Buffer> = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);

/**
 * Decodes a whole body; null when it decodes to more than `bytesMax`. A body with an unknown encoding, or that cannot
 * be decoded, stays as it is: then it is no JSON.
 */
export function decodedBody(body: Buffer, encoding: string | undefined, bytesMax: number): Buffer | null {
  const decode = DECODERS.get(encoding?.trim().toLowerCase() ?? '');
  if (!decode || body.length === 0) return body;
  try {
    return decode(body, { maxOutputLength: bytesMax });
  } catch (error) {
    return error instanceof RangeError ? null : body;
  }
}
