import { createServer } from 'node:http';
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../../src/platform/log/log';
import { ask, isServedBy } from '../../src/embedded-redis/probe';
import { RedisDidNotStart } from '../../src/embedded-redis/ensure';
import { isGoneWithin, sendSignal } from '../../src/embedded-redis/probe';
import { startEmbeddedRedis, type EmbeddedRedis } from '../../src/embedded-redis/start';
import { recordedLog } from '../support/recorded-log';
import { lastingPort } from '../support/lasting-port';
import { useFolders } from './folder';
import { serveTcp } from './listening';

describe('an embedded Redis', () => {
  const running: EmbeddedRedis[] = [];

  async function start(dataDir: string, port?: number, log = silentLog): Promise<EmbeddedRedis> {
    const lookup = { searchPath: process.env['PATH'] ?? '', binary: process.env['REDIS_SERVER_BIN'] ?? null };
    const chosen = port === undefined ? {} : { port };
    const redis = await startEmbeddedRedis({ dataDir, log, lookup, ...chosen });
    running.push(redis);
    return redis;
  }

  afterEach(async () => {
    const started = running.splice(0);
    for (const redis of started) {
      sendSignal(redis.processId, 'SIGCONT');
      await redis.stop();
    }
    for (const { port, processId } of started) {
      if (await isServedBy(port, processId)) throw new Error(`a server outlived its last user on port ${port}`);
    }
  });
  // Removed after the servers have ended, for hooks run in the order they are declared.
  const makeFolder = useFolders();

  test('the embedded Redis listens on loopback only, syncs every write and evicts nothing', async () => {
    const redis = await start(await makeFolder());
    expect(redis.url).toBe(`redis://127.0.0.1:${redis.port}`);
    const settings = { bind: '127.0.0.1', 'protected-mode': 'yes', appendonly: 'yes', appendfsync: 'always' };
    for (const [name, value] of Object.entries({ ...settings, save: '', 'maxmemory-policy': 'noeviction' })) {
      expect(await ask(redis.port, ['CONFIG', 'GET', name])).toEqual([name, value]);
    }
  });

  test('the embedded Redis keeps its data and its port over a stop and a start', async () => {
    const folder = await makeFolder();
    const first = await start(folder, await lastingPort());
    await ask(first.port, ['SET', 'key', 'kept']);
    await first.stop();
    expect(await isServedBy(first.port, first.processId)).toBe(false);
    const second = await start(folder);
    expect(second.port).toBe(first.port);
    expect(await ask(second.port, ['GET', 'key'])).toBe('kept');
  });

  test('the embedded Redis listens on the port given in its options', async () => {
    const folder = await makeFolder();
    const port = await lastingPort();
    const first = await start(folder, port);
    expect(first).toMatchObject({ port });
    await first.stop();
    expect(await start(folder, port)).toMatchObject({ port });
  });

  test('two users of one folder share one embedded Redis, which ends with the last of them', async () => {
    const folder = await makeFolder();
    const first = await start(folder);
    const second = await start(folder);
    expect([first.wasRunning, second.wasRunning]).toEqual([false, true]);
    expect(second).toMatchObject({ port: first.port, processId: first.processId });
    await first.stop();
    expect(await ask(second.port, ['PING'])).toBe('PONG');
    await second.stop();
    expect(await isServedBy(second.port, second.processId)).toBe(false);
  });

  test('a user of the embedded Redis logs that it has stopped only if it has', async () => {
    const folder = await makeFolder();
    const { log, lines } = recordedLog();
    const first = await start(folder, undefined, log);
    const second = await start(folder, undefined, log);
    await second.stop();
    expect(lines.at(-1)).toMatchObject({ event: 'embedded_redis.left' });
    await first.stop();
    expect(lines.at(-1)).toMatchObject({ event: 'embedded_redis.stopped' });
  });

  test('stopping the embedded Redis twice has the effect of stopping it once', async () => {
    const redis = await start(await makeFolder());
    await Promise.all([redis.stop(), redis.stop()]);
    await redis.stop();
    expect(await isServedBy(redis.port, redis.processId)).toBe(false);
  });

  test('a killed embedded Redis is started again, on the same port with its data, by the next process', async () => {
    const folder = await makeFolder();
    const first = await start(folder, await lastingPort());
    await ask(first.port, ['SET', 'key', 'kept']);
    sendSignal(first.processId, 'SIGKILL');
    expect(await isGoneWithin({ ...first, folder: join(folder, 'redis') }, 10_000)).toBe(true);
    const second = await start(folder);
    expect(second).toMatchObject({ port: first.port, wasRunning: false });
    expect(await ask(second.port, ['GET', 'key'])).toBe('kept');
  });

  test('the embedded Redis starts on another port when a program has taken its old one', async () => {
    const folder = await makeFolder();
    const first = await start(folder, await lastingPort());
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

  test('the embedded Redis starts although its old process id belongs to another program', async () => {
    const folder = await makeFolder();
    await (await start(folder)).stop();
    writeFileSync(join(folder, 'redis', 'redis.pid'), String(process.pid));
    const redis = await start(folder);
    expect(redis.processId).not.toBe(process.pid);
    await redis.stop();
  });

  test('the embedded Redis stops although its folder was removed', async () => {
    const folder = await makeFolder();
    const redis = await start(folder);
    rmSync(folder, { recursive: true });
    await redis.stop();
    expect(await isServedBy(redis.port, redis.processId)).toBe(false);
  });

  test('no second embedded Redis starts on the folder of a frozen one', async () => {
    const folder = await makeFolder();
    const first = await start(folder);
    sendSignal(first.processId, 'SIGSTOP');
    await expect(start(folder)).rejects.toThrow(`process ${first.processId}) runs but does not answer`);
    sendSignal(first.processId, 'SIGCONT');
    expect(await start(folder)).toMatchObject({ processId: first.processId, wasRunning: true });
  });

  test('no second embedded Redis starts on the folder of one that answers with errors', async () => {
    const folder = await makeFolder();
    await (await start(folder)).stop();
    const { port, server } = await serveTcp((socket) => socket.end('-NOAUTH Authentication required.\r\n'));
    writeFileSync(join(folder, 'redis', 'port'), String(port));
    writeFileSync(join(folder, 'redis', 'redis.pid'), String(process.pid));
    try {
      await expect(start(folder)).rejects.toThrow(`process ${process.pid}) runs but does not answer`);
    } finally {
      server.close();
    }
  });

  test('the error of an embedded Redis that cannot read its data quotes its log', async () => {
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
    expect(readdirSync(join(folder, 'redis')).filter((name) => name.startsWith('lock'))).toEqual([]);
  });
});
