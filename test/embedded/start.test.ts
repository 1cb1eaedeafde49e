import { createServer } from 'node:http';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { ask } from '../../src/store/embedded/ask';
import { RedisDidNotStart } from '../../src/store/embedded/launch';
import { startEmbeddedRedis, type EmbeddedRedis } from '../../src/store/embedded/start';
import { useFolders } from './folder';
import { isListening } from './listening';
import { until } from './until';

describe('an embedded Redis', () => {
  const running: EmbeddedRedis[] = [];

  async function start(dataDir: string, port?: number): Promise<EmbeddedRedis> {
    const lookup = { searchPath: process.env['PATH'] ?? '', binary: process.env['REDIS_SERVER_BIN'] ?? null };
    const chosen = port === undefined ? {} : { port };
    const redis = await startEmbeddedRedis({ dataDir, clock: systemClock, log: silentLog, lookup, ...chosen });
    running.push(redis);
    return redis;
  }

  afterEach(async () => {
    const started = running.splice(0);
    for (const redis of started) {
      redis.kill('SIGCONT');
      await redis.stop();
    }
    for (const { port } of started) {
      if (await isListening(port)) throw new Error(`a server outlived its last user on port ${port}`);
    }
  });
  // Removed after the servers have ended, for hooks run in the order they are declared.
  const makeFolder = useFolders();

  test('answers on loopback only, writes everything to disk and throws nothing away', async () => {
    const redis = await start(await makeFolder());
    expect(redis.url).toBe(`redis://127.0.0.1:${redis.port}`);
    const settings = { bind: '127.0.0.1', 'protected-mode': 'yes', appendonly: 'yes', appendfsync: 'always' };
    for (const [name, value] of Object.entries({ ...settings, save: '', 'maxmemory-policy': 'noeviction' })) {
      expect(await ask(redis.port, ['CONFIG', 'GET', name])).toEqual([name, value]);
    }
  });

  test('holds after a stop and a start what it held before, on the same port', async () => {
    const folder = await makeFolder();
    const first = await start(folder);
    await ask(first.port, ['SET', 'key', 'kept']);
    await first.stop();
    expect(await isListening(first.port)).toBe(false);
    const second = await start(folder);
    expect(second.port).toBe(first.port);
    expect(await ask(second.port, ['GET', 'key'])).toBe('kept');
  });

  test('takes the port it is told to', async () => {
    const folder = await makeFolder();
    const first = await start(folder);
    await first.stop();
    expect(await start(folder, first.port)).toMatchObject({ port: first.port });
  });

  test('is one server for two who start it on the same folder, and ends with the last of them', async () => {
    const folder = await makeFolder();
    const first = await start(folder);
    const second = await start(folder);
    expect([first.shared, second.shared]).toEqual([false, true]);
    expect(second).toMatchObject({ port: first.port, processId: first.processId });
    await first.stop();
    expect(await ask(second.port, ['PING'])).toBe('PONG');
    await second.stop();
    expect(await isListening(second.port)).toBe(false);
  });

  test('is stopped once, however often it is asked to', async () => {
    const redis = await start(await makeFolder());
    await Promise.all([redis.stop(), redis.stop()]);
    await redis.stop();
    expect(await isListening(redis.port)).toBe(false);
  });

  test('that is killed comes back on the same port with all it held', async () => {
    const redis = await start(await makeFolder());
    const { processId } = redis;
    await ask(redis.port, ['SET', 'key', 'kept']);
    redis.kill('SIGKILL');
    await until(() => redis.processId !== processId);
    expect(await ask(redis.port, ['GET', 'key'])).toBe('kept');
  });

  test('that is killed while two use it comes back once, for both', async () => {
    const folder = await makeFolder();
    const first = await start(folder);
    const second = await start(folder);
    const { processId } = first;
    first.kill('SIGKILL');
    await until(() => first.processId !== processId && second.processId !== processId);
    expect(second.processId).toBe(first.processId);
  });

  test('lets a folder go whose port another program has taken since', async () => {
    const folder = await makeFolder();
    const first = await start(folder);
    await ask(first.port, ['SET', 'key', 'kept']);
    await first.stop();
    const other = createServer((_, response) => response.end('not Redis'));
    await new Promise<void>((resolve) => other.listen(first.port, '127.0.0.1', resolve));
    try {
      const second = await start(folder);
      expect(second.port).not.toBe(first.port);
      expect(await ask(second.port, ['GET', 'key'])).toBe('kept');
    } finally {
      other.close();
    }
  });

  test('is not misled by a process id that another program has now', async () => {
    const folder = await makeFolder();
    await (await start(folder)).stop();
    writeFileSync(join(folder, 'redis', 'redis.pid'), String(process.pid));
    const redis = await start(folder);
    expect(redis.processId).not.toBe(process.pid);
    await redis.stop();
  });

  test('whose folder was removed under it still ends when it is stopped', async () => {
    const folder = await makeFolder();
    const redis = await start(folder);
    rmSync(folder, { recursive: true });
    await redis.stop();
    expect(await isListening(redis.port)).toBe(false);
  });

  test('that is frozen is not joined by a second server on the same files', async () => {
    const folder = await makeFolder();
    const first = await start(folder);
    first.kill('SIGSTOP');
    await expect(start(folder)).rejects.toThrow(`process ${first.processId}) runs but does not answer`);
    first.kill('SIGCONT');
    expect(await start(folder)).toMatchObject({ processId: first.processId, shared: true });
  });

  test('that cannot read its data says why in its own last words', async () => {
    const folder = await makeFolder();
    const first = await start(folder);
    await ask(first.port, ['SET', 'key', 'kept']);
    await first.stop();
    const appendOnlyFolder = join(folder, 'redis', 'appendonlydir');
    const manifest = readdirSync(appendOnlyFolder).find((name) => name.endsWith('.manifest')) ?? '';
    appendFileSync(join(appendOnlyFolder, manifest), 'nonsense\n');
    const starting = start(folder);
    await expect(starting).rejects.toThrow(RedisDidNotStart);
    await expect(starting).rejects.toThrow(/Bad file format|Invalid AOF manifest/i);
    expect(readFileSync(join(folder, 'redis', 'redis.log'), 'utf8')).toContain('Redis');
    expect(existsSync(join(folder, 'redis', 'lock'))).toBe(false);
  });
});
