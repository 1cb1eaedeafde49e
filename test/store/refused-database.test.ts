import { silentLog } from '../../src/platform/log/log';
import { connectFailFast, connectPatient, whenReady } from '../../src/store/redis/connect';
import { DatabaseRefused } from '../../src/store/redis/connection';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';

const redis = useOwnRedis();

test.each([
  ['connection that fails fast', connectFailFast],
  ['connection that waits for Redis', connectPatient],
])('a %s never writes to database 0 when its database is refused on a reconnect', async (_kind, connect) => {
  await redis.ask('ACL', 'SETUSER', 'yard', 'on', '>password', '~*', '&*', '+@all');
  const connection = connect(`redis://yard:password@127.0.0.1:${redis.port}/15`, { log: silentLog });
  let refusals = 0;
  connection.on('error', (error) => {
    if (error instanceof DatabaseRefused) refusals += 1;
  });
  try {
    await whenReady(connection, 30_000);
    await redis.ask('ACL', 'SETUSER', 'yard', '-select');
    await redis.ask('CLIENT', 'KILL', 'USER', 'yard');
    await eventually(() => {
      connection.set('written', 'while refused').catch(() => {});
      expect(refusals).toBeGreaterThan(2);
    });
    await redis.ask('ACL', 'SETUSER', 'yard', '+select');
    await eventually(() => connection.set('written', 'afterwards'));
    expect(await redis.ask('DBSIZE')).toBe(0);
    expect(await connection.get('written')).toBe('afterwards');
  } finally {
    connection.disconnect();
  }
});
