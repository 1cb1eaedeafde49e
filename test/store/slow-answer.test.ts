import { silentLog } from '../../src/platform/log/log';
import { connectFailFast, connectForCommandLine, whenReady } from '../../src/store/redis/connect';
import { useOwnRedis } from '../support/redis';

const redis = useOwnRedis();

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
