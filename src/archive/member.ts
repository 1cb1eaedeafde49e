import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

/**
 * A gzip member that every gzip program reads, with its length in the header: the extra field `TH` contains the length
 * of the member and a checksum of it. A reader can tell a truncated member from a changed one, and needs only one in
 * memory. All other header bytes are constant.
 *
 * Layout (RFC 1952): 10 bytes fixed · 2 bytes length of the extra field · `TH`, its length, 4 bytes length of the
 * member, 4 bytes checksum · deflated data · CRC-32 · length of the text.
 */

const compress = promisify(gzip);
const uncompress = promisify(gunzip);

/**
 * Magic, method deflate, flag "extra field", no time, no extra flags, unknown system; then the head of the extra field.
 */
const FIXED = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 12, 0, 0x54, 0x48, 8, 0]);
const GZIP_HEADER_BYTES = 10;
const LENGTH_AT = FIXED.length;
const CHECK_AT = LENGTH_AT + 4;

export const HEADER_BYTES = CHECK_AT + 4;
/** A longer member was not written by towhook. */
const MEMBER_BYTES_MAX = 1 << 30;

/** Compresses text to one member. */
export async function compressMember(text: Buffer): Promise<Buffer> {
  const plain = await compress(text);
  const body = plain.subarray(GZIP_HEADER_BYTES);
  const header = Buffer.alloc(HEADER_BYTES);
  FIXED.copy(header);
  header.writeUInt32LE(HEADER_BYTES + body.length, LENGTH_AT);
  checkOf(header).copy(header, CHECK_AT);
  return Buffer.concat([header, body]);
}

/** The length of the member with this header; null when the header was not written by towhook. */
export function memberBytes(header: Buffer): number | null {
  const isOurs =
    header.length >= HEADER_BYTES &&
    header.subarray(0, FIXED.length).equals(FIXED) &&
    header.subarray(CHECK_AT, HEADER_BYTES).equals(checkOf(header));
  if (!isOurs) return null;
  const length = header.readUInt32LE(LENGTH_AT);
  return length > HEADER_BYTES && length <= MEMBER_BYTES_MAX ? length : null;
}

export function mayBeginMember(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, FIXED.length);
  return bytes.subarray(0, length).equals(FIXED.subarray(0, length));
}

/** The text of a member; null when it is corrupt. */
export async function textOf(member: Buffer): Promise<Buffer | null> {
  return uncompress(member).catch(() => null);
}

function checkOf(header: Buffer): Buffer {
  return createHash('sha256').update(header.subarray(0, CHECK_AT)).digest().subarray(0, 4);
}
