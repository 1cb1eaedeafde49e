import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startTestRedis, type TestRedis } from '../support/redis-server';
import { PROJECT } from '../support/project';

/** The commands for the users of Redis, executed as the pages have them. */

let folder: string;
let redis: TestRedis;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-redis-users-'));
  await writeFile(join(folder, 'users.acl'), '');
  redis = await startTestRedis({ aclfile: join(folder, 'users.acl'), requirepass: 'password-that-does-not-count' });
});
afterEach(async () => {
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The lines of the command blocks below a heading. */
function commandsBelow(heading: string, ...path: readonly string[]): string[] {
  const [, rest = ''] = readFileSync(join(PROJECT, 'docs', 'operations', ...path), 'utf8').split(`\n## ${heading}\n`);
  const [section = ''] = rest.split('\n## ');
  return [...section.matchAll(/^```text\n([^]*?)^```$/gm)].flatMap(([, block = '']) => block.trim().split('\n'));
}

/** What a shell prints for a command, with the `aclfile` of this server in place of that of the page. */
const printed = (command: string) =>
  execFileSync('sh', ['-c', command.replaceAll('/etc/redis/users.acl', join(folder, 'users.acl'))], {
    cwd: PROJECT,
    encoding: 'utf8',
  });

/** The reply to one command, or the first word of the error. */
async function reply(words: readonly string[], signIn: { username?: string; password?: string } = {}) {
  const client = new Redis(redis.port, '127.0.0.1', { ...signIn, retryStrategy: null, enableReadyCheck: false });
  // A refused sign-in is an event as well as the reply to the command.
  client.on('error', () => {});
  const [command = '', ...rest] = words;
  try {
    return await client.call(command, rest);
  } catch (error) {
    return String(error).replace(/^\w+: (\w+) .*/, '$1');
  } finally {
    client.disconnect();
  }
}

const asUser = (username: string, password: string, ...command: readonly string[]) =>
  reply(command.length > 0 ? command : ['PING'], { username, password });

/** Executes the commands in order, and returns the reply to each that calls Redis, by its text. */
async function play(commands: readonly string[]): Promise<Record<string, unknown>> {
  let signIn = {};
  const replies: Record<string, unknown> = {};
  for (const command of commands) {
    const [, exported] = /^export REDISCLI_AUTH=(\S+)$/.exec(command) ?? [];
    const [, before = '', cli] = /^(.*)\bredis-cli\b ?(.*)$/.exec(command) ?? [];
    if (exported !== undefined) {
      signIn = { password: exported };
    } else if (cli === undefined) {
      printed(command);
      // As at a start with the file.
      await redis.ask('ACL', 'LOAD');
    } else if (before.endsWith('| ')) {
      const lines = printed(before.slice(0, -2)).trim().split('\n');
      for (const line of lines) replies[command] = await reply(line.split(' '), signIn);
    } else {
      const words = printed(`printf '%s\\n' ${cli}`).trim().split('\n');
      replies[command] = await reply(words, before.includes('-u REDISCLI_AUTH') ? {} : signIn);
    }
  }
  return replies;
}

test('the section about a user with few permissions leaves no Redis that answers without a password, and all its commands work', async () => {
  // The trap of which the page warns: this server has a `requirepass`.
  expect(await reply(['PING'])).toBe('PONG');

  const replies = await play(commandsBelow('A user with few permissions', 'redis.md'));
  expect(await reply(['PING'])).toBe('NOAUTH');
  const { 'env -u REDISCLI_AUTH redis-cli PING': withoutPassword, ...others } = replies;
  expect(withoutPassword).toBe('NOAUTH');
  expect(Object.values(others)).toEqual(Object.keys(others).map(() => 'OK'));
  expect(Object.keys(others).length).toBeGreaterThanOrEqual(6);
  expect(await asUser('towhook', 'a-long-password')).toBe('WRONGPASS');
  expect(await asUser('towhook', 'the-new-password')).toBe('PONG');
  expect(await asUser('towhook', 'the-new-password', 'ACL', 'LIST')).toBe('NOPERM');
});

test('the commands for the user of backups work on a Redis with the users of the section that it names', async () => {
  await play(commandsBelow('A user with few permissions', 'redis.md'));
  const replies = await play(commandsBelow('What Redis must permit', 'backup.md'));
  expect(Object.values(replies)).toEqual(['OK', 'OK', 'OK']);
  expect(await asUser('towhook-backup', 'a-long-password', 'GET', '{towhook-main}:schema-version')).toBeNull();
  expect(await asUser('towhook-backup', 'a-long-password', 'PING')).toBe('NOPERM');
  expect(await asUser('towhook', 'the-new-password')).toBe('PONG');
  expect(await reply(['PING'])).toBe('NOAUTH');
  // What a restart finds.
  const saved = readFileSync(join(folder, 'users.acl'), 'utf8');
  expect(saved).not.toContain('nopass');
  expect([...saved.matchAll(/^user (\S+) on #/gm)].map(([, name = '']) => name).toSorted()).toEqual([
    'default',
    'towhook',
    'towhook-backup',
  ]);
});
