import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes temporary folders for the tests of a file and removes them after each test. */
export function useFolders(): () => Promise<string> {
  const folders: string[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });
  return async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'towhook-test-')));
    folders.push(folder);
    return folder;
  };
}
