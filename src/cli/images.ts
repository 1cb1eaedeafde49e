import { File } from 'node:buffer';
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { asUpload } from '../client';
import { IMAGES_TOTAL_BYTES_MAX } from '../contracts/service';
import { WrongUse } from './problems';
import type { Call } from './verb';

/** Images on their way from the disk to towhook. */

const TYPES: Readonly<Record<string, string>> = {
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
  '.heic': 'image/heic',
};

/** The files, to be read when they are sent. Throws WrongUse for those that are no files or cannot be read, or are too large together. */
export async function openImages(paths: readonly string[]): Promise<File[]> {
  const opened = await Promise.all(paths.map(openImage));
  const unreadable = paths.filter((_path, index) => opened[index] === null);
  if (unreadable.length > 0) {
    throw new WrongUse(unreadable.map((path) => ({ field: path, rule: 'is no file that can be read' })));
  }
  const files = opened.flatMap((file) => file ?? []);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > IMAGES_TOTAL_BYTES_MAX) {
    const rule = `must be at most ${IMAGES_TOTAL_BYTES_MAX} bytes together, not ${bytes}`;
    throw new WrongUse([{ field: 'images', rule }]);
  }
  return files;
}

async function openImage(path: string): Promise<File | null> {
  try {
    // A folder opens like a file, and fails when it is sent.
    if (!(await stat(path)).isFile()) return null;
    const blob = await openAsBlob(path);
    return new File([blob], basename(path), { type: TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream' });
  } catch {
    return null;
  }
}

/** Sends a form with these files, with a bar where a person watches. */
export async function uploading<T>(
  call: Call,
  files: readonly File[],
  send: (options: ReturnType<typeof asUpload>) => Promise<T>,
): Promise<T> {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const progress = bytes === 0 ? null : call.screen.progress('bytes sent', bytes);
  try {
    return await send(asUpload(progress ? { onSent: (sent) => progress.at(Math.min(sent, bytes)) } : {}));
  } finally {
    progress?.end();
  }
}
