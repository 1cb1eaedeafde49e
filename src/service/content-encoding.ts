import { TextDecoder } from 'node:util';
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, type ZlibOptions } from 'node:zlib';

/**
 * Answers that are compressed although towhook asks for `identity`, or in another character set than UTF-8: some gateways
 * do that to every answer, and without this none of them would count as an answer of the service.
 */

type Decode = (bytes: Buffer, options: ZlibOptions) => Buffer;

const DECODERS: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateEither],
  ['br', brotliDecompressSync],
  ['identity', (bytes) => bytes],
]);

/** Bounds the work for one answer. */
const ENCODINGS_MAX = 4;

/**
 * Decodes a whole body, the encoding that was applied last first; null when it decodes to more than `bytesMax`. A body
 * with an unknown encoding, or that cannot be decoded, stays as it is: then it is no JSON.
 */
export function decodedBody(body: Buffer, encoding: string | undefined, bytesMax: number): Buffer | null {
  if (encoding === undefined || body.length === 0) return body;
  const names = encoding.toLowerCase().split(',', ENCODINGS_MAX + 1);
  if (names.length > ENCODINGS_MAX) return body;
  let decoded = body;
  try {
    for (const name of names.toReversed()) {
      const decode = DECODERS.get(name.trim());
      if (!decode) return body;
      decoded = decode(decoded, { maxOutputLength: bytesMax });
    }
    return decoded;
  } catch (error) {
    return error instanceof RangeError ? null : body;
  }
}

/** With the header of zlib, as the standard says, or without it, as some servers send it and browsers read it. */
function inflateEither(bytes: Buffer, options: ZlibOptions): Buffer {
  try {
    return inflateSync(bytes, options);
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return inflateRawSync(bytes, options);
  }
}

/** The text of a decoded body, without its byte order mark: in the character set of the mark, else of `contentType`. */
export function textOf(body: Buffer, contentType: string | undefined): string {
  const named = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType ?? '')?.[1];
  return decoderFor(markedCharset(body) ?? named ?? 'utf-8').decode(body);
}

function markedCharset(body: Buffer): string | null {
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 'utf-8' : null;
}

function decoderFor(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}
