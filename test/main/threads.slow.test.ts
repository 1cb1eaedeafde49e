import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { compiledFile } from '../support/compiled';
import { PROJECT } from '../support/project';

/** As many calls as a worker may have on a hanging disk; twice as many as Node has threads by default. */
const HANGING_CALLS = 8;
const LIMIT_MS = 10_000;

/**
 * Runs in the program at its end: opens a FIFO that has no writer, which hangs like a call on a disk that does not answer,
 * and then resolves a name.
 */
const HANG = `
  const { open } = require('node:fs');
  const { lookup } = require('node:dns');
  process.once('beforeExit', () => {
    for (let calls = 0; calls < ${HANGING_CALLS}; calls += 1) open(process.env.FIFO, 'r', () => {});
    const end = (what) => process.stdout.write(what, () => process.kill(process.pid, 'SIGKILL'));
    setTimeout(end, ${LIMIT_MS}, 'no thread');
    lookup('localhost', () => end('resolved'));
  });
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'towhook-threads-'));
  execFileSync('mkfifo', [join(folder, 'fifo')]);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const { scripts } = z
  .object({ scripts: z.object({ start: z.string() }) })
  .parse(JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')));

test.each([
  ['npm start', scripts.start],
  ['towhook start', `exec node '${compiledFile('src/main/towhook.cjs')}' start`],
  ['the image', `exec node '${compiledFile('src/main/index.ts')}'`],
])('a process started by %s resolves names while calls on a disk hang', (_way, command) => {
  const hang = join(folder, 'hang.cjs');
  writeFileSync(hang, HANG);
  const { stdout } = spawnSync('sh', ['-c', command], {
    cwd: PROJECT,
    env: { PATH: process.env['PATH'], FIFO: join(folder, 'fifo'), NODE_OPTIONS: `--require ${hang}` },
    encoding: 'utf8',
  });
  expect(stdout).toBe('resolved');
});
