import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../src/platform/log/log';
import { privateCopy } from '../../src/embedded-redis/private-copy';
import { useFolders } from './folder';
import { writePackageTools, writeProgram } from './programs';

describe('a private copy of Redis', () => {
  const makeFolder = useFolders();

  async function setting(options: { systemLists: boolean }) {
    const tools = await makeFolder();
    const cache = join(await makeFolder(), 'redis');
    await writePackageTools(tools, options);
    const copy = () => privateCopy(cache, { searchPath: `${tools}:/usr/bin:/bin`, log: silentLog });
    const calls = async () => (await readFile(join(tools, 'calls'), 'utf8')).trim().split('\n');
    return { tools, cache, copy, calls };
  }

  test('a private copy of Redis is fetched once with the missing libraries, and kept', async () => {
    const { cache, copy, calls } = await setting({ systemLists: true });
    const first = await copy();
    expect(first.path).toBe(join(cache, 'server/bin/redis-server'));
    expect(first.version).toMatch(/^\d+\.\d+/);
    expect(await readdir(join(cache, 'server/lib'))).toEqual(['libmissing.so.1']);
    expect(await readdir(cache)).toEqual(['server']);
    expect(await copy()).toEqual(first);
    expect((await calls()).map((call) => call.split('download ')[1])).toEqual(['redis-tools', 'libmissing1']);
  });

  test('a private copy of Redis is fetched with its own package lists when the system has none', async () => {
    const { cache, copy, calls } = await setting({ systemLists: false });
    await copy();
    const updates = (await calls()).filter((call) => call.endsWith('update'));
    expect(updates[0]).toContain(`Dir::State::lists=${cache}`);
    expect(await readdir(cache)).toEqual(['server']);
  });

  test('a private copy of Redis is fetched once for several concurrent callers', async () => {
    const { copy, calls } = await setting({ systemLists: true });
    const copies = await Promise.all([copy(), copy(), copy()]);
    expect(new Set(copies.map(({ path }) => path)).size).toBe(1);
    expect(await calls()).toHaveLength(2);
  });

  test('a private copy of Redis that does not start is fetched again', async () => {
    const { cache, copy } = await setting({ systemLists: true });
    await mkdir(join(cache, 'server/bin'), { recursive: true });
    await writeProgram(join(cache, 'server/bin'), 'redis-server', ['exit 126']);
    await mkdir(join(cache, 'fetch-killed'));
    await writeFile(join(cache, 'fetch-killed', 'half.deb'), '');
    await copy();
    expect(await readdir(cache)).toEqual(['server']);
  });

  test('a private copy of Redis that cannot be fetched leaves no file and an error with the reason', async () => {
    const { tools, cache, copy } = await setting({ systemLists: true });
    await writeProgram(tools, 'apt-get', ['echo "E: Temporary failure resolving the mirror" >&2', 'exit 100']);
    await expect(copy()).rejects.toThrow('Temporary failure resolving the mirror');
    expect(await readdir(cache)).toEqual([]);
  });

  test('a private copy of Redis is not kept when its packages hold no server that starts', async () => {
    const { tools, cache, copy } = await setting({ systemLists: true });
    await writeProgram(tools, 'dpkg-deb', [
      '[ "$1" = -x ] && mkdir -p "$3/usr/bin" && echo broken > "$3/usr/bin/redis-check-rdb"',
      'exit 0',
    ]);
    await expect(copy()).rejects.toThrow('server/bin/redis-server');
    expect(await readdir(cache)).toEqual([]);
  });
});
