import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { DataKeys } from '../platform/data-keys';
import { errorCode } from '../platform/errors';
import { decryptedPieces, EncryptedFileUnusable, encryptedPieces, storedForm } from '../platform/encrypted-file';
import type { ImageSource } from '../workflow/ops/spool-port';

/**
 * Images as they are on the disk: plain, or encrypted as the file of their name. No other file has this name, so that an
 * encrypted image cannot be read in the place of another.
 */

/** The name without the number that a file gets among the orphans when its name is taken there. */
const OWN_NAME = /^[^.]+\.\d+/;

function placeOf(path: string): string {
  const name = basename(path);
  return `image\n${OWN_NAME.exec(name)?.[0] ?? name}`;
}

/** Whether a path is a file with this number of plain bytes. Only a missing file is no error. */
export async function isFileOfSize(path: string, sizeBytes: number): Promise<boolean> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return false;
    return found.size === sizeBytes || (await isEncryptedOfSize(path, sizeBytes));
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

/** True for the error of a call on a path that does not exist, or that leads through a file. */
export function isAbsence(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

async function isEncryptedOfSize(path: string, sizeBytes: number): Promise<boolean> {
  const form = await storedForm(path);
  return form.keyId !== null && form.sizeBytes === sizeBytes;
}

/** The bytes of an image as they are stored at `path`. */
export function storedPieces(
  bytes: AsyncIterable<Uint8Array>,
  path: string,
  keys: DataKeys | null,
): AsyncGenerator<Uint8Array> {
  return encryptedPieces(bytes, { keys, place: placeOf(path) });
}

/** The plain bytes of an image. @throws EncryptedFileUnusable */
export function plainPieces(path: string, keys: DataKeys | null): AsyncGenerator<Uint8Array> {
  return decryptedPieces(path, { keys, place: placeOf(path) });
}

/**
 * An image that can be read; null when it was changed or is gone by now. An encrypted one is read once to find that out,
 * because a call that has begun cannot be taken back. With keys, a plain one may also be encrypted before it is read.
 *
 * @throws EncryptedFileUnusable when this process lacks its key.
 */
export async function imageSource(path: string, keys: DataKeys | null): Promise<ImageSource | null> {
  try {
    const isPlain = (await storedForm(path)).keyId === null;
    if (isPlain && keys === null) return { path };
    if (!isPlain) for await (const piece of plainPieces(path, keys)) void piece;
  } catch (error) {
    if (isAbsence(error) || (error instanceof EncryptedFileUnusable && error.fault === 'changed')) return null;
    throw error;
  }
  return { open: () => Readable.from(plainPieces(path, keys)) };
}

/** The plain bytes of an image, whole. @throws EncryptedFileUnusable */
export async function imageBytes(path: string, keys: DataKeys | null): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of plainPieces(path, keys)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Null for an image that cannot be decrypted. @throws any other error */
export function noneIfUnusable(error: unknown): null {
  if (error instanceof EncryptedFileUnusable) return null;
  throw error;
}
