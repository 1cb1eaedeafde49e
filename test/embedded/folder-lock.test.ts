import { readdir, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { withFolderLock } from '../../src/embedded-redis/folder-lock';
import { useFolders } from './folder';

describe('a folder lock', () => {
  const makeFolder = useFolders();
  const lockIn = (folder: string, waitMs = 5_000) => ({ file: join(folder, 'lock'), waitMs });

  test('a folder lock admits one holder at a time and leaves no file', async () => {
    const folder = await makeFolder();
    let inside = 0;
    let most = 0;
    const works = Array.from({ length: 20 }, () =>
      withFolderLock(lockIn(folder, 20_000), async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
      }),
    );
    await Promise.all(works);
    expect(most).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });

  test('a folder lock is released when the work fails', async () => {
    const folder = await makeFolder();
    const failing = withFolderLock(lockIn(folder), () => Promise.reject(new Error('out of luck')));
    await expect(failing).rejects.toThrow('out of luck');
    expect(await withFolderLock(lockIn(folder), () => Promise.resolve('in'))).toBe('in');
  });

  test('a folder lock of a dead process is taken over at once', async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, `lock@${hostname()}@${deadProcessId()}@1@1`), '');
    expect(await withFolderLock(lockIn(folder, 1_000), () => Promise.resolve('in'))).toBe('in');
    expect(await readdir(folder)).toEqual([]);
  });

  test('a folder lock whose process id belongs to another process by now is taken over at once', async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, `lock@${hostname()}@${process.pid}@1@1`), '');
    expect(await withFolderLock(lockIn(folder, 1_000), () => Promise.resolve('in'))).toBe('in');
  });

  test('a folder lock of another machine or container is kept until its file is removed', async () => {
    const folder = await makeFolder();
    const file = join(folder, `lock@another-container@${deadProcessId()}@1@1`);
    await writeFile(file, '');
    await expect(withFolderLock(lockIn(folder, 100), () => Promise.resolve('in'))).rejects.toThrow(file);
    await rm(file);
    expect(await withFolderLock(lockIn(folder), () => Promise.resolve('in'))).toBe('in');
  });

  test('waiting for the folder lock of a live holder ends with an error that names the lock file', async () => {
    const folder = await makeFolder();
    await withFolderLock(lockIn(folder), async () => {
      const second = withFolderLock(lockIn(folder, 100), () => Promise.resolve('in'));
      await expect(second).rejects.toThrow(/another process has owned .*lock@.* for longer than 100 ms/);
    });
  });

  test('a folder lock that twenty callers take over at once admits one holder at a time', async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, `lock@${hostname()}@${deadProcessId()}@1@1`), '');
    let inside = 0;
    const works = Array.from({ length: 20 }, () =>
      withFolderLock(lockIn(folder, 20_000), async () => {
        inside += 1;
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
        return inside;
      }),
    );
    expect(await Promise.all(works)).toEqual(works.map(() => 0));
  });
});

function deadProcessId(): number {
  return spawnSync('true').pid;
}
