import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf } from './system-error';

/**
 * Makes a folder, with those above it that are missing; returns the topmost that was made, undefined when none was. Takes
 * the place of node's own `recursive`, which never ends where the system says ENOENT below a folder that is there, as in
 * `/proc`. `mode` holds for every folder that is made.
 *
 * @throws the system's error when it cannot be made, or something else has its name.
 */
export async function makeFolder(folder: string, mode: number): Promise<string | undefined> {
  const path = resolve(folder);
  try {
    return await makeOne(path, mode);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
  }
  const above = await makeFolder(dirname(path), mode);
  // Once more and never again.
  const made = await makeOne(path, mode);
  return above ?? made;
}

async function makeOne(path: string, mode: number): Promise<string | undefined> {
  try {
    await mkdir(path, { mode });
    return path;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && (await isFolder(path))) return undefined;
    throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
