import { silentLog } from '../../src/platform/log/log';
import { connectPatient, whenReady } from '../../src/store/redis/connect';
import { useOwnRedis } from '../support/redis';

const redis = useOwnRedis();

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
