import { randomBytes } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The text of a file of DATA_KEYS_FILE: these keys in their order, and the key of search terms. */
export function dataKeysText(...ids: readonly string[]): string {
  return ['search', ...ids].map((id) => `${id}:${randomBytes(32).toString('base64')}\n`).join('');
}

/** The lines of these ids, in this order, and the line of search terms. */
export function linesOf(text: string, ...ids: readonly string[]): string {
  const lines = text.split('\n');
  return ['search', ...ids].map((id) => `${lines.find((line) => line.startsWith(`${id}:`)) ?? ''}\n`).join('');
}

/** Gives the tests of a file a file of data keys; `write` replaces its text. */
export function useDataKeysFile(): { readonly path: string; write(text: string): Promise<void> } {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'towhook-keys-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const path = () => join(folder, 'data-keys');
  return {
    get path() {
      return path();
    },
    async write(text) {
      // At once: a process that reads the file every few seconds must not find half of it.
      await writeFile(`${path()}.new`, text);
      await rename(`${path()}.new`, path());
    },
  };
}
