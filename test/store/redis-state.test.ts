import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { connectFailFast } from '../../src/store/redis/connect';
import { readRedisState } from '../../src/store/redis/redis-settings';

test('a Redis that cannot be reached is not writable, and has neither a latency nor a memory', async () => {
  const redis = connectFailFast('redis://127.0.0.1:1', { log: silentLog });
  try {
    expect(await readRedisState(redis, systemClock)).toEqual({ isWritable: false, latencyMs: null, memory: null });
  } finally {
    redis.disconnect();
  }
});
