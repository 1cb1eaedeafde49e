import { silentLog } from '../../src/platform/log/log';
import { connectFailFast, whenReady, writability } from '../../src/store/redis/connect';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';

const redis = useOwnRedis();

const changes = async () =>
  /rdb_changes_since_last_save:(\d+)/.exec(String(await redis.ask('INFO', 'persistence')))?.[1];

test('checking whether Redis accepts writes changes no key and appends nothing to its append-only file', async () => {
  const connection = connectFailFast(redis.url, { log: silentLog });
  try {
    await whenReady(connection, 5000);
    const before = await changes();
    for (let index = 0; index < 20; index += 1) expect(await writability(connection)).toBe('writable');
    expect(await changes()).toBe(before);
    expect(await redis.ask('KEYS', '*')).toEqual([]);
  } finally {
    connection.disconnect();
  }
});

test.each(['eval', 'evalsha', 'lpushx'])(
  'a user who may not run %s is reported as lacking a permission',
  async (command) => {
    await redis.ask('ACL', 'SETUSER', 'few', 'on', '>password', '~*', '&*', '+@all', `-${command}`);
    const connection = connectFailFast(redis.url.replace('://', '://few:password@'), { log: silentLog });
    try {
      await whenReady(connection, 5000);
      expect(await writability(connection)).toBe('lacks_permission');
    } finally {
      connection.disconnect();
      await redis.ask('ACL', 'DELUSER', 'few');
    }
  },
);

test('a replica is reported as refusing writes even while the connection reconnects after other refused commands', async () => {
  const connection = connectFailFast(redis.url, { log: silentLog });
  const writing = { goesOn: true };
  try {
    await whenReady(connection, 5000);
    await redis.ask('REPLICAOF', '127.0.0.1', '1');
    const writes = (async () => {
      while (writing.goesOn) await connection.set('any', '1').catch(() => new Promise((done) => setImmediate(done)));
    })();
    await eventually(async () => expect(await writability(connection)).toBe('refuses_writes'));
    const states = [];
    for (let index = 0; index < 200; index += 1) {
      states.push(await writability(connection));
      await new Promise((done) => setImmediate(done));
    }
    writing.goesOn = false;
    await writes;
    expect(new Set(states)).toEqual(new Set(['refuses_writes']));
    await redis.ask('REPLICAOF', 'NO', 'ONE');
    await eventually(async () => expect(await writability(connection)).toBe('writable'));
    await redis.kill();
    await eventually(async () => expect(await writability(connection)).toBe('unreachable'));
  } finally {
    writing.goesOn = false;
    connection.disconnect();
  }
});
