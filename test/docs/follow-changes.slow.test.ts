import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { KEYS } from '../../src/store/keys';
import { useDataDir } from '../archive/folder';
import { newTow, record } from '../operator/world';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { PROJECT } from '../support/project';

/** The example of docs/beside-your-software.md, run as a program beside towhook. */

const app = useApp({ role: 'console', ownRedis: true });
const folder = useDataDir();
const started: ChildProcess[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) await end(child);
});

function start() {
  const child = spawn(process.execPath, [join(PROJECT, 'docs/examples/follow-changes.mjs')], {
    env: {
      PATH: process.env['PATH'],
      TOWHOOK_URL: app.consoleUrl,
      TOWHOOK_API_KEY: app.apiKey,
      STATE_FILE: join(folder.path, 'changes.json'),
    },
  });
  started.push(child);
  const seen = { out: '', problems: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (seen.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (seen.problems += text));
  return { child, seen };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('the example reads all tows, follows their changes, reads on after a kill and begins again after a restore', async () => {
  const before = await newTow(app);
  const first = start();
  await eventually(() => expect(first.seen.out).toContain(`tow ${before} is requested`));
  await record(app, before, 'started');
  await eventually(() => expect(first.seen.out).toContain(`fact.recorded ${before} {"fact":"started"}`));
  await end(first.child);

  await record(app, before, 'detained');
  const second = start();
  await eventually(() => expect(second.seen.out).toContain(`fact.recorded ${before} {"fact":"detained"}`));
  expect(second.seen.out).not.toContain('is requested');

  await app.foundation.redis.set(KEYS.epoch, 'f'.repeat(12));
  await newTow(app);
  await eventually(() => expect(second.seen.out).toContain(`tow ${before} is detained`), 40_000);
  expect([first.seen.problems, second.seen.problems]).toEqual(['', '']);
});
