import { delimiter, join } from 'node:path';
import { silentLog } from '../../src/platform/log/log';
import { findServer, type ServerLookup, RedisNotAvailable } from '../../src/embedded-redis/find-server';
import { useFolders } from './folder';
import { realServerLines, writeProgram } from './programs';

describe('finding a Redis server', () => {
  const makeFolder = useFolders();

  async function find(lookup: Partial<ServerLookup>) {
    const cacheFolder = join(await makeFolder(), 'cache');
    return findServer({ searchPath: '', cacheFolder, log: silentLog, ...lookup });
  }

  test('an installed redis-server is used as the embedded server', async () => {
    const folder = await makeFolder();
    const path = await writeProgram(folder, 'redis-server', await realServerLines());
    const found = await find({ searchPath: ['/nowhere', folder].join(delimiter) });
    expect(found).toMatchObject({ path, libraryFolder: null });
    expect(found.version).toMatch(/^\d+\.\d+/);
  });

  test('an installed valkey-server is used when there is no redis-server', async () => {
    const folder = await makeFolder();
    const path = await writeProgram(folder, 'valkey-server', ['echo "Valkey server v=8.0.1 sha=00000000:0 bits=64"']);
    expect(await find({ searchPath: folder })).toEqual({ path, libraryFolder: null, version: '8.0.1' });
  });

  test('the binary of REDIS_SERVER_BIN is preferred to installed servers', async () => {
    const folder = await makeFolder();
    await writeProgram(folder, 'redis-server', await realServerLines());
    const named = await writeProgram(folder, 'my-redis', await realServerLines());
    expect(await find({ binary: named, searchPath: folder })).toMatchObject({ path: named });
  });

  test('a REDIS_SERVER_BIN that is not a Redis server is an error, and no other server replaces it', async () => {
    const folder = await makeFolder();
    await writeProgram(folder, 'redis-server', await realServerLines());
    const named = await writeProgram(folder, 'my-redis', ['echo hello']);
    const finding = find({ binary: named, searchPath: folder });
    await expect(finding).rejects.toThrow(RedisNotAvailable);
    await expect(finding).rejects.toThrow(`REDIS_SERVER_BIN: ${named} is not a Redis server`);
  });

  test('an installed Redis server that is too old or does not start is skipped', async () => {
    const folder = await makeFolder();
    await writeProgram(folder, 'redis-server', ['echo "Redis server v=5.0.7 sha=00000000:0"']);
    const path = await writeProgram(folder, 'valkey-server', await realServerLines());
    expect(await find({ searchPath: folder })).toMatchObject({ path });
    await writeProgram(folder, 'valkey-server', ['echo "libfoo.so.1: cannot open shared object file" >&2', 'exit 127']);
    const finding = find({ searchPath: folder });
    await expect(finding).rejects.toThrow('version 5.0.7, older than 6.2');
    await expect(finding).rejects.toThrow('libfoo.so.1: cannot open shared object file');
  });

  test('one error lists what was tried and what to do when no Redis server can be found', async () => {
    const finding = find({});
    await expect(finding).rejects.toThrow(RedisNotAvailable);
    for (const words of [
      'redis-server on the PATH: not installed',
      'valkey-server on the PATH: not installed',
      'only Debian and Ubuntu offer one (no apt-get here)',
      'apt-get install redis-server',
      'brew install redis',
      'apk add redis',
      'docker run -d -p 127.0.0.1:6379:6379 redis',
      'set REDIS_URL',
    ]) {
      await expect(finding).rejects.toThrow(words);
    }
  });
});
