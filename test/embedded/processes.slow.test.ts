import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { silentLog } from '../../src/platform/log/log';
import { ask, isServedBy } from '../../src/embedded-redis/probe';
import { startEmbeddedRedis } from '../../src/embedded-redis/start';
import { compiledFile } from '../support/compiled';
import { useFolders } from './folder';

const started = z.object({ port: z.number(), processId: z.number(), wasRunning: z.boolean() });

describe('processes with an embedded Redis', () => {
  const owners: { owner: ChildProcessByStdio<null, Readable, null>; dataDir: string }[] = [];

  function startOwner(dataDir: string, then: 'stays' | 'leaves' | 'interrupted') {
    const owner = spawn(process.execPath, [compiledFile('test/embedded/owner-process.ts'), dataDir, then], {
      stdio: ['ignore', 'pipe', 'inherit'],
      // A separate process group represents that of the terminal: Ctrl-C reaches every process in it.
      detached: true,
    });
    owners.push({ owner, dataDir });
    const lines = createInterface(owner.stdout)[Symbol.asyncIterator]();
    const nextLine = async (): Promise<unknown> => JSON.parse(String((await lines.next()).value));
    const ended = once(owner, 'exit');
    return { owner, ended, nextLine, server: nextLine().then((line) => started.parse(line)) };
  }

  const startHere = (dataDir: string) =>
    startEmbeddedRedis({
      dataDir,
      log: silentLog,
      lookup: { searchPath: process.env['PATH'] ?? '', binary: process.env['REDIS_SERVER_BIN'] ?? null },
    });

  afterEach(async () => {
    const all = owners.splice(0);
    for (const { owner } of all) owner.kill('SIGKILL');
    // What a failed test left running is taken over and ended.
    for (const { dataDir } of all) await (await startHere(dataDir)).stop();
  });
  // Removed after the servers have ended, for hooks run in the order they are declared.
  const makeFolder = useFolders();

  test('processes that start at once on a fresh folder share one embedded Redis, which ends with the last of them', async () => {
    const folder = await makeFolder();
    const all = [1, 2, 3].map(() => startOwner(folder, 'interrupted'));
    const servers = await Promise.all(all.map(({ server }) => server));
    expect(new Set(servers.map(({ processId }) => processId)).size).toBe(1);
    expect(servers.filter(({ wasRunning }) => !wasRunning)).toHaveLength(1);
    const { port = 0, processId = 0 } = servers[0] ?? {};
    expect(await ask(port, ['GET', 'starts'])).toBe('3');
    for (const { owner, ended } of all) {
      expect(await isServedBy(port, processId)).toBe(true);
      owner.kill('SIGINT');
      await ended;
    }
    expect(await isServedBy(port, processId)).toBe(false);
  });

  test('the embedded Redis of a killed process is taken over with its data and stopped by its new owner', async () => {
    const folder = await makeFolder();
    const { owner, ended, server } = startOwner(folder, 'stays');
    const left = await server;
    owner.kill('SIGKILL');
    await ended;
    expect(await isServedBy(left.port, left.processId)).toBe(true);
    const redis = await startHere(folder);
    try {
      expect(redis).toMatchObject({ port: left.port, processId: left.processId, wasRunning: true });
      expect(await ask(redis.port, ['GET', 'starts'])).toBe('1');
    } finally {
      await redis.stop();
    }
    expect(await isServedBy(left.port, left.processId)).toBe(false);
  });

  test('the embedded Redis keeps running for other processes when one ends without stopping it', async () => {
    const folder = await makeFolder();
    const redis = await startHere(folder);
    try {
      const { ended, server } = startOwner(folder, 'leaves');
      expect((await server).wasRunning).toBe(true);
      await ended;
      expect(await ask(redis.port, ['GET', 'starts'])).toBe('1');
      expect(redis.processId).toBe((await server).processId);
    } finally {
      await redis.stop();
    }
  });

  test('the embedded Redis survives Ctrl-C until its process has finished', async () => {
    const { owner, ended, nextLine, server } = startOwner(await makeFolder(), 'interrupted');
    const { port, processId } = await server;
    process.kill(-(owner.pid ?? 0), 'SIGINT');
    expect(await nextLine()).toEqual({ reply: 2 });
    await ended;
    expect(await isServedBy(port, processId)).toBe(false);
  });
});
