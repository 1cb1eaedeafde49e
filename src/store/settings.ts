import { ReplyError, type Redis } from 'ioredis';

/** A setting of Redis under which what was acknowledged can be lost. */
export interface RedisFault {
  readonly setting: 'appendonly' | 'appendfsync' | 'maxmemory-policy';
  readonly problem: string;
}

/**
 * Finds settings under which Redis loses acknowledged data: no append-only file, one that is not synced at every write,
 * or eviction. A setting that the server does not show is no fault. Rejects when Redis does not answer.
 */
export async function redisFaults(redis: Redis): Promise<RedisFault[]> {
  const [persistence, memory, sync] = await Promise.all([
    redis.info('persistence'),
    redis.info('memory'),
    syncPolicy(redis),
  ]);
  const faults: RedisFault[] = [];
  if (!/^aof_enabled:1/m.test(persistence)) {
    faults.push({
      setting: 'appendonly',
      problem: 'is off: a restart of Redis loses acknowledged calls; set appendonly yes',
    });
  } else if (sync !== null && sync !== 'always') {
    faults.push({
      setting: 'appendfsync',
      problem: `is ${sync}: a power failure loses the last acknowledged calls; set appendfsync always`,
    });
  }
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
  if (policy !== undefined && policy !== 'noeviction') {
    faults.push({
      setting: 'maxmemory-policy',
      problem: `is ${policy}: Redis may drop tows when memory is short; set maxmemory-policy noeviction`,
    });
  }
  return faults;
}

/**
 * When Redis syncs its append-only file to the disk: `always`, `everysec` or `no`; null where the server does not tell,
 * as hosted ones often do not. Rejects when it does not answer.
 */
export async function syncPolicy(redis: Redis): Promise<string | null> {
  try {
    const [, policy] = await redis.config('GET', 'appendfsync');
    return policy ?? null;
  } catch (error) {
    if (error instanceof ReplyError) return null;
    throw error;
  }
}
