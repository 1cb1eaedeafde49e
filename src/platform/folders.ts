import { randomUUID } from 'node:crypto';
import { constants, copyFile, mkdir, open, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorCode } from './errors';

/** DATA_DIR and backups contain personal data: only the user of the process may read them. */
export const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;

/**
 * Creates a folder and its missing parents, all with FOLDER_MODE. Returns the topmost folder that was created, undefined when
 * none was. Replaces `mkdir` with `recursive`, which never ends where the system answers ENOENT below an existing
 * folder, as in `/proc`.
 *
 * @throws the system's error when the folder cannot be created, or a file has its name.
 */
export async function makeFolder(folder: string): Promise<string | undefined> {
  const path = resolve(folder);
  try {
    return await makeOne(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
  }
  const parent = await makeFolder(dirname(path));
  // One retry only: in `/proc` every attempt ends with ENOENT.
  const made = await makeOne(path);
  return parent ?? made;
}

async function makeOne(path: string): Promise<string | undefined> {
  try {
    await mkdir(path, { mode: FOLDER_MODE });
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

/** Moves a file, also to another file system: there it has its name only when it is complete and on the disk. */
export async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    await copyDurably(from, to);
    await rm(from, { force: true });
  }
}

/** Writes a file that does not exist yet, on the disk at the end. It gets the owner of another one. */
export async function writeNewFile(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  { uid, gid }: { readonly uid: number; readonly gid: number },
): Promise<void> {
  const handle = await open(path, 'wx', FILE_MODE);
  try {
    for await (const piece of pieces) await handle.appendFile(piece);
    // The roles may run as another user than a command.
    if ((await handle.stat()).uid !== uid) await handle.chown(uid, gid);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The copy has the mode and the owner of the file. */
async function copyDurably(from: string, to: string): Promise<void> {
  const draft = `${to}.${randomUUID()}`;
  try {
    await copyFile(from, draft, constants.COPYFILE_EXCL);
    const { uid, gid } = await stat(from);
    const handle = await open(draft, 'r+');
    try {
      if ((await handle.stat()).uid !== uid) await handle.chown(uid, gid);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, to);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(to));
}

/** The disk of a folder, in bytes: its size, and what this user may still write. Rejects if the folder is missing. */
export async function diskSpace(folder: string): Promise<{ readonly freeBytes: number; readonly sizeBytes: number }> {
  const { bsize, blocks, bavail } = await statfs(folder);
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
}
