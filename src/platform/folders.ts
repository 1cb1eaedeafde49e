import { mkdir, open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorCode } from './errors';

/**
 * Creates a folder and its missing parents, all with `mode`. Returns the topmost folder that was created, undefined when
 * none was. Replaces `mkdir` with `recursive`, which never ends where the system answers ENOENT below an existing
 * folder, as in `/proc`.
 *
 * @throws the system's error when the folder cannot be created, or a file has its name.
 */
export async function makeFolder(folder: string, mode: number): Promise<string | undefined> {
  const path = resolve(folder);
  try {
    return await makeOne(path, mode);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
  }
  const parent = await makeFolder(dirname(path), mode);
  // One retry only: in `/proc` every attempt ends with ENOENT.
  const made = await makeOne(path, mode);
  return parent ?? made;
}

async function makeOne(path: string, mode: number): Promise<string | undefined> {
  try {
    await mkdir(path, { mode });
    return path;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' && (await isFolder(path))) return undefined;
    throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Flushes a folder: a new or renamed file is durable only after its folder was flushed. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
