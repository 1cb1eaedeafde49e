import { File } from 'node:buffer';
import { openAsBlob } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { errorCode } from '../platform/errors';
import type { CommandOutput, Invocation } from './command';
import { UsageError } from './problems';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
  '.heic': 'image/heic',
};

/** Opens image files; their bytes are read when they are sent. Throws UsageError for unreadable files. */
export async function openImages(paths: readonly string[]): Promise<File[]> {
  const opened = await Promise.all(paths.map(openImage));
  const unreadable = paths.filter((_path, index) => opened[index] === null);
  if (unreadable.length > 0) {
    throw new UsageError(unreadable.map((path) => ({ field: path, rule: 'is not a file that can be read' })));
  }
  return opened.flatMap((file) => file ?? []);
}

async function openImage(path: string): Promise<File | null> {
  try {
    // A folder can be opened like a file, but then fails when it is sent.
    if (!(await stat(path)).isFile()) return null;
    const blob = await openAsBlob(path);
    const type = CONTENT_TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream';
    return new File([blob], basename(path), { type });
  } catch {
    return null;
  }
}

function totalBytes(files: readonly File[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** Sends a form with files, and shows a progress bar. */
export async function upload<T>(
  call: Invocation,
  files: readonly File[],
  send: (onSent: ((bytes: number) => void) | undefined) => Promise<T>,
): Promise<T> {
  const bytes = totalBytes(files);
  const progress = bytes === 0 ? null : call.terminal.progress('bytes sent', bytes);
  try {
    return await send(progress ? (sent) => progress.at(Math.min(sent, bytes)) : undefined);
  } finally {
    progress?.end();
  }
}

/** Writes a download to the file of `--output`. Throws UsageError when it cannot be written. */
export async function saveFile(call: Invocation, bytes: ArrayBuffer): Promise<CommandOutput> {
  const file = call.text('output') ?? '';
  try {
    await writeFile(file, Buffer.from(bytes));
  } catch (error) {
    throw new UsageError([{ field: '--output', rule: `cannot be written (${errorCode(error) ?? 'unknown error'})` }]);
  }
  return { json: { file, bytes: bytes.byteLength }, lines: [`${file}: ${bytes.byteLength} bytes`] };
}
