import { silentLog } from '../../src/platform/log/log';
import { connectFailFast, connectForCommandLine, connectPatient, whenReady } from '../../src/store/redis/connect';
import { DatabaseRefused } from '../../src/store/redis/connection';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';
import { systemClock } from '../../src/platform/clock';
import { readRedisState } from '../../src/store/redis/redis-settings';

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

test('the commands of one tick are handed to the system in one write, and each gets its reply', async () => {
  const connection = connectPatient(redis.url, { log: silentLog });
  try {
    await whenReady(connection, 5000);
    const alone = jest.spyOn(connection.stream, '_write');
    const together = jest.spyOn(connection.stream, '_writev');
    const texts = Array.from({ length: 20 }, (_, number) => `text ${number}`);
    expect(await Promise.all(texts.map((text) => connection.echo(text)))).toEqual(texts);
    expect([alone.mock.calls.length, together.mock.calls.length]).toEqual([0, 1]);
  } finally {
    connection.disconnect();
  }
});

test('a command line waits for a Redis that answers later than a role allows', async () => {
  const ofRole = connectFailFast(redis.url, { log: silentLog });
  const ofCommand = connectForCommandLine(redis.url, { log: silentLog });
  try {
    await Promise.all([whenReady(ofRole, 60_000), whenReady(ofCommand, 60_000)]);
    redis.freeze();
    const answer = ofCommand.ping();
    await expect(ofRole.ping()).rejects.toThrow('Command timed out');
    redis.thaw();
    expect(await answer).toBe('PONG');
  } finally {
    redis.thaw();
    ofRole.disconnect();
    ofCommand.disconnect();
  }
});

test('a Redis that cannot be reached is not writable, and has neither a latency nor a memory', async () => {
  const unreachable = connectFailFast('redis://127.0.0.1:1', { log: silentLog });
  try {
    expect(await readRedisState(unreachable, systemClock)).toEqual({
      isWritable: false,
      latencyMs: null,
      memory: null,
    });
  } finally {
    unreachable.disconnect();
  }
});
