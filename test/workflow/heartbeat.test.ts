import { describeProcess } from '../../src/platform/process';
import { knownSchema } from '../../src/store/ops/schema';
import { createProcessStore } from '../../src/store/ops/processes';
import { createCounters } from '../../src/platform/log/counters';
import { systemClock } from '../../src/platform/clock';
import { createHeartbeatGaps } from '../../src/workflow/ops/heartbeat';
import { createHeartbeatSender } from '../../src/workflow/ops/heartbeat';
import { recordedLog } from '../support/recorded-log';
import { useConnection, useRedis } from '../support/redis';
import type { Redis } from '../../src/store/redis/connect';

const redis = useRedis();
let connection: Redis;
useConnection(redis, (opened) => (connection = opened));

test('a clock of one machine that is set back is an alarm, although Redis and process agree all the time', async () => {
  const ran = { moreMs: 0 };
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + ran.moreMs };
  const { log, lines } = recordedLog();
  const store = createProcessStore(connection);
  const heartbeat = createHeartbeatSender({
    store,
    process: {
      role: 'all',
      ...describeProcess(),
      mode: 'live',
      service: null,
      schema: knownSchema(),
    },
    counters: createCounters(),
    gaps: createHeartbeatGaps(clock, 60_000),
    sample: () => Promise.resolve(),
    clock,
    log,
  });
  heartbeat.start({ checks: {}, missingDataKeys: () => Promise.resolve([]), queues: () => [] });
  try {
    await heartbeat.firstStored;
    await heartbeat.send();
    expect((await store.list())[0]?.clockOffsetSeconds).toBe(0);

    // Three hours pass by the monotonic clock, and none by those of Redis and process.
    ran.moreMs = 3 * 3_600_000;
    await heartbeat.send();
    await heartbeat.send();
    const offset = (await store.list())[0]?.clockOffsetSeconds ?? 0;
    expect(offset).toBeLessThanOrEqual(-10_700);
    expect(lines.filter(({ event }) => event === 'clock.off')).toHaveLength(1);
    expect(lines.find(({ event }) => event === 'clock.off')).toMatchObject({ ahead_of_redis_seconds: 0 });
    expect(heartbeat.clockOffsetSeconds()).toBe(0);
  } finally {
    await heartbeat.stop();
  }
});
