import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { probe } from '../../src/embedded-redis/probe';
import { compiledFile } from '../support/compiled';
import { useFolders } from './folder';
import { until } from './until';

const makeFolder = useFolders();
const started = z.object({ port: z.number() });

/** Whether the server of a snapshot answers: unlike another program on the port, it demands its password. */
const isServed = async (port: number) => (await probe(port, 'no folder')).state === 'silent';

/** Starts a process with a private server. `temporary` is where the server has its folder. */
async function startOwner(then: 'stays' | 'stops') {
  const temporary = await makeFolder();
  // Redis starts empty without its file.
  const words = [compiledFile('test/embedded/snapshot-process.ts'), join(temporary, 'none.rdb'), then];
  const owner = spawn(process.execPath, words, {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(owner, 'exit');
  const lines = createInterface(owner.stdout)[Symbol.asyncIterator]();
  const { port } = started.parse(JSON.parse(String((await lines.next()).value)));
  return { owner, ended, port, temporary };
}

test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const)(
  'a process that is ended by %s leaves neither the server of its snapshot nor its folder',
  async (signal) => {
    const { owner, port, temporary } = await startOwner('stays');
    expect(await isServed(port)).toBe(true);
    expect(await readdir(temporary)).toEqual([expect.stringMatching(/^towhook-snapshot-/)]);

    owner.kill(signal);

    await until(async () => !(await isServed(port)) && (await readdir(temporary)).length === 0, 5000);
  },
);

test('a process that stops the server of its snapshot ends, and leaves no folder', async () => {
  const { ended, port, temporary } = await startOwner('stops');

  expect(await ended).toEqual([0, null]);

  expect(await isServed(port)).toBe(false);
  expect(await readdir(temporary)).toEqual([]);
});
