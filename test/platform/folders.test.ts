import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../../src/platform/folders';

let base = '';
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'towhook-folder-'));
});
afterEach(() => rm(base, { recursive: true, force: true }));

const modeOf = async (folder: string) => (await stat(folder)).mode & 0o777;

test('makeFolder creates every missing folder for its user alone and returns the topmost', async () => {
  expect(await makeFolder(join(base, 'a', 'b', 'c'))).toBe(join(base, 'a'));
  expect([await modeOf(join(base, 'a')), await modeOf(join(base, 'a', 'b', 'c'))]).toEqual([0o700, 0o700]);
  expect(await makeFolder(join(base, 'a', 'd'))).toBe(join(base, 'a', 'd'));
});

test('makeFolder leaves existing folders unchanged', async () => {
  await mkdir(join(base, 'open'), { mode: 0o755 });
  expect(await makeFolder(join(base, 'open'))).toBeUndefined();
  expect(await makeFolder('/')).toBeUndefined();
  expect(await modeOf(join(base, 'open'))).toBe(0o755);
});

test('concurrent makeFolder calls create a folder once', async () => {
  const made = await Promise.all([1, 2, 3, 4, 5].map(() => makeFolder(join(base, 'a', 'b'))));
  expect(made.filter((top) => top === join(base, 'a'))).toHaveLength(1);
});

test('makeFolder fails when a file is in the way', async () => {
  await writeFile(join(base, 'file'), '');
  await expect(makeFolder(join(base, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeFolder(join(base, 'file', 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

test('makeFolder fails with the code of the system where no folder can be created', async () => {
  const path = join('/proc', 'there-is-no-such-thing', 'below');
  await expect(makeFolder(path)).rejects.toThrow(/^E[A-Z]+: /);
});
