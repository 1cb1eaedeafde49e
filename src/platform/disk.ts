import { statfs } from 'node:fs/promises';

/** The disk of a folder, in bytes: its size, and what this user may still write. Rejects if the folder is missing. */
export async function diskSpace(folder: string): Promise<{ readonly freeBytes: number; readonly sizeBytes: number }> {
  const { bsize, blocks, bavail } = await statfs(folder);
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
}
