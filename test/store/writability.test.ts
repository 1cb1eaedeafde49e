import { silentLog } from '../../src/platform/log';
import { connectFailFast, whenReady, writability } from '../../src/store/connect';
import { useOwnRedis } from '../support/redis';

const redis = useOwnRedis();

const changes = async () =>
  /rdb_changes_since_last_save:(\d+)/.exec(String(await redis.ask('INFO', 'persistence')))?.[1];

test('looking whether Redis takes writes changes no key and adds nothing to its append-only file', async () => {
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
