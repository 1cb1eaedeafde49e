import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { DataKeys } from '../platform/data-keys';
import { errorCode } from '../platform/errors';
import { openedPieces, SealedFileUnusable, storedForm, type FileSeal } from '../platform/sealed-file';
import type { ImageSource } from '../workflow/ops/spool-port';

/**
 * Images as they are on the disk: plain, or sealed as the file of their name. No other file has this name, so that a
 * sealed image does not open in the place of another.
 */

/** The name without the number that a file gets among the orphans when its name is taken there. */
const OWN_NAME = /^[^.]+\.\d+/;

export function imageSeal(keys: DataKeys | null, path: string): FileSeal {
  const name = basename(path);
  return { keys, place: `image\n${OWN_NAME.exec(name)?.[0] ?? name}` };
}

/** Whether a path is a file with this number of plain bytes. Only a missing file is no error. */
export async function isFileOfSize(path: string, sizeBytes: number): Promise<boolean> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return false;
    return found.size === sizeBytes || (await isSealedOfSize(path, sizeBytes));
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

async function isSealedOfSize(path: string, sizeBytes: number): Promise<boolean> {
  const form = await storedForm(path);
  return form.keyId !== null && form.sizeBytes === sizeBytes;
}

/** The plain bytes of an image. @throws SealedFileUnusable */
export function imagePieces(path: string, keys: DataKeys | null): AsyncGenerator<Uint8Array> {
  return openedPieces(path, imageSeal(keys, path));
}

/**
 * An image that can be read; null when it was changed or is gone by now. A sealed one is opened once to find that out,
 * because a call that has begun cannot be taken back. With keys, a plain one may also become sealed before it is read.
 *
 * @throws SealedFileUnusable when this process lacks its key.
 */
export async function imageSource(path: string, keys: DataKeys | null): Promise<ImageSource | null> {
  try {
    const isSealed = (await storedForm(path)).keyId !== null;
    if (!isSealed && keys === null) return { path };
    if (isSealed) for await (const piece of imagePieces(path, keys)) void piece;
  } catch (error) {
    if (isAbsence(error) || (error instanceof SealedFileUnusable && error.fault === 'changed')) return null;
    throw error;
  }
  return { open: () => Readable.from(imagePieces(path, keys)) };
}

/** The plain bytes of an image, whole. @throws SealedFileUnusable */
export async function imageBytes(path: string, keys: DataKeys | null): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of imagePieces(path, keys)) pieces.push(piece);
  return Buffer.concat(pieces);
}
