import { TextDecoder } from 'node:util';
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, type ZlibOptions } from 'node:zlib';
import type { UnreadableEncoding } from '../domain/service/policy';

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
  ['', (bytes) => bytes],
]);

/** Bounds the work for one answer. */
const ENCODINGS_MAX = 4;

/** A whole body; as it came when its encoding cannot be read, empty when it decodes to more than was allowed. */
interface DecodedBody {
  readonly body: Buffer;
  readonly ended: 'complete' | 'too_long' | UnreadableEncoding;
}

/** Decodes a whole body to at most `bytesMax`, the encoding that was applied last first. */
export function decodedBody(body: Buffer, encoding: string, bytesMax: number): DecodedBody {
  const names = encoding.toLowerCase().split(',', ENCODINGS_MAX + 1);
  let decoded = body;
  for (const name of body.length === 0 ? [] : names.map((each) => each.trim()).toReversed()) {
    const decode = names.length > ENCODINGS_MAX ? undefined : DECODERS.get(name);
    try {
      if (!decode) return { body, ended: unreadable(name) };
      decoded = decode(decoded, { maxOutputLength: bytesMax });
    } catch (error) {
      return error instanceof RangeError
        ? { body: Buffer.alloc(0), ended: 'too_long' }
        : { body, ended: unreadable(name) };
    }
  }
  return { body: decoded, ended: 'complete' };
}

function unreadable(name: string): UnreadableEncoding {
  return `encoding_${/^[\w-]{1,20}$/.test(name) ? name : 'unknown'}`;
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
