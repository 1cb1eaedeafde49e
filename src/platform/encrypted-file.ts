import { open, type FileHandle } from 'node:fs/promises';
import { NONCE_BYTES, encryptedPrefix, keyIdOf, TAG_BYTES, type DataKeys } from './data-keys';

/**
 * Files that are encrypted as a whole: `aes:1:<key id>:`, the nonce, the encrypted bytes and their tag (data-keys.ts).
 * They are written and read piece by piece.
 */

const PIECE_BYTES = 65_536;
/** The longest prefix: a key id has at most 32 characters. */
const PREFIX_BYTES_MAX = encryptedPrefix('').length + 32;

/** The keys of a process, null without any, and the place that the file is bound to. */
interface FilePlace {
  readonly keys: DataKeys | null;
  readonly place: string;
}

/** `missing_key`: this process lacks the key. `changed`: the file was changed, cut off or moved from another place. */
export class EncryptedFileUnusable extends Error {
  override readonly name = 'EncryptedFileUnusable';

  constructor(
    readonly fault: 'missing_key' | 'changed',
    readonly keyId: string,
  ) {
    super(
      fault === 'changed'
        ? 'an encrypted file was changed, or moved from another place'
        : `a file is encrypted under the key "${keyId}", which this process lacks (DATA_KEYS_FILE)`,
    );
  }
}

/** The bytes of a file as it is stored: encrypted under the first key, or as they are without keys. */
export async function* encryptedPieces(
  bytes: AsyncIterable<Uint8Array>,
  { keys, place }: FilePlace,
): AsyncGenerator<Uint8Array> {
  if (keys === null) {
    yield* bytes;
    return;
  }
  const { id, nonce, cipher } = keys.cipher(place);
  yield Buffer.concat([Buffer.from(encryptedPrefix(id)), nonce]);
  for await (const piece of bytes) yield cipher.update(piece);
  cipher.final();
  yield cipher.getAuthTag();
}

/** The id of the key that a file is encrypted under, null for a plain one, and the number of its plain bytes. */
interface StoredForm {
  readonly keyId: string | null;
  readonly sizeBytes: number;
}

export async function storedForm(path: string): Promise<StoredForm> {
  const handle = await open(path, 'r');
  try {
    return await formOf(handle);
  } finally {
    await handle.close();
  }
}

/**
 * The plain bytes of a file. That an encrypted file was changed shows only at its end.
 *
 * @throws EncryptedFileUnusable
 */
export async function* decryptedPieces(path: string, { keys, place }: FilePlace): AsyncGenerator<Uint8Array> {
  const handle = await open(path, 'r');
  try {
    const { keyId, sizeBytes } = await formOf(handle);
    if (keyId === null) {
      yield* piecesAt(handle, 0, sizeBytes);
      return;
    }
    const prefixBytes = encryptedPrefix(keyId).length;
    const from = prefixBytes + NONCE_BYTES;
    // Cut off before its tag.
    if (sizeBytes < 0) throw new EncryptedFileUnusable('changed', keyId);
    const nonce = await bytesFrom(handle, prefixBytes, NONCE_BYTES);
    const tag = await bytesFrom(handle, from + sizeBytes, TAG_BYTES);
    const decipher = keys?.decipher(place, { id: keyId, nonce, tag }) ?? null;
    if (decipher === null) throw new EncryptedFileUnusable('missing_key', keyId);
    for await (const piece of piecesAt(handle, from, sizeBytes)) yield decipher.update(piece);
    try {
      decipher.final();
    } catch {
      throw new EncryptedFileUnusable('changed', keyId);
    }
  } finally {
    await handle.close();
  }
}

async function formOf(handle: FileHandle): Promise<StoredForm> {
  const { size } = await handle.stat();
  const keyId = keyIdOf((await bytesFrom(handle, 0, PREFIX_BYTES_MAX)).toString('latin1'));
  if (keyId === null) return { keyId, sizeBytes: size };
  return { keyId, sizeBytes: size - encryptedPrefix(keyId).length - NONCE_BYTES - TAG_BYTES };
}

/** Bytes of a part of a file, fewer where the file ends before. */
async function* piecesAt(handle: FileHandle, from: number, length: number): AsyncGenerator<Buffer> {
  const end = from + length;
  for (let at = from; at < end;) {
    const piece = await bytesFrom(handle, at, Math.min(PIECE_BYTES, end - at));
    if (piece.length === 0) return;
    yield piece;
    at += piece.length;
  }
}

async function bytesFrom(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}
