import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { PROJECT } from '../support/project';

/** What deploy/redis/users.acl allows, compared with what the sources call. */

const [RULE = ''] = readFileSync(join(PROJECT, 'deploy/redis/users.acl'), 'utf8').split('\n');
const ALLOWED = [...RULE.matchAll(/ \+(\S+)/g)].map(([, command = '']) => command);

/** Calls of the client library and of BullMQ in forms that the patterns below do not see. */
const BY_LIBRARIES = ['client|setname', 'select', 'discard', 'config|get', 'bzpopmin'];
/** Names of commands with another meaning in the sources. */
const OTHER_MEANINGS = ['config', 'debug', 'digest', 'keys', 'readonly', 'watch'];
/** `towhook backup` and `restore` run as another user. */
const OF_BACKUPS = ['dump', 'replconf', 'restore'];

function textsIn(folder: string, ending: string): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(join(PROJECT, folder, name), 'utf8'));
}

const matches = (texts: readonly string[], pattern: RegExp) =>
  texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name.toLowerCase()));

const OF_SCRIPTS = /\b(?:redis\.p?call|rcall)\(\s*\\?["'](\w+)\\?["']/g;
const bullMq = join('node_modules', 'bullmq', 'dist', 'cjs');

test('deploy/redis/users.acl allows exactly the commands that towhook and its libraries call', () => {
  const builtIn = new Set(new Redis({ lazyConnect: true }).getBuiltinCommands());
  const stores = [...textsIn('src/store', '.ts'), ...textsIn('src/queue', '.ts')].filter((text) =>
    text.includes('edis'),
  );
  const isCommand = (name: string) => builtIn.has(name) && ![...OTHER_MEANINGS, ...OF_BACKUPS].includes(name);
  const methods = matches(stores, /\.\s*([a-z]+)\(/g).filter(isCommand);
  // Names that a script gets as data: effects of a commit, and reads at one instant.
  const asData = matches(stores, /['"]([A-Z]{3,})['"]/g).filter(isCommand);
  const limiter = matches(textsIn('node_modules/rate-limiter-flexible/lib', 'RateLimiterRedis.js'), OF_SCRIPTS);
  const called = new Set([
    ...BY_LIBRARIES,
    ...methods,
    ...asData,
    ...limiter,
    ...matches(textsIn('src/store/lua', '.lua'), OF_SCRIPTS),
    ...matches(textsIn(join(bullMq, 'scripts'), '.js'), OF_SCRIPTS),
  ]);
  expect(ALLOWED).toEqual([...called].toSorted());
});

test('deploy/redis/users.acl is limited to the keys and channels of towhook, and holds no password', () => {
  expect(RULE.split(' +')[0]).toBe(
    'user towhook on resetpass resetkeys ~{towhook-main}:* resetchannels &{towhook-main}:* -@all',
  );
});
