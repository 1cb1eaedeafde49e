import { ReplyError, type Redis } from 'ioredis';

/** A setting of Redis under which what was acknowledged can be lost. */
export interface RedisFault {
  readonly setting: string;
  readonly problem: string;
}

/** Looks for settings under which Redis forgets: no append-only file, or eviction. Empty when all is well. */
export async function redisFaults(redis: Redis): Promise<RedisFault[]> {
  const [persistence, memory] = await Promise.all([redis.info('persistence'), redis.info('memory')]);
  const faults: RedisFault[] = [];
  if (!/^aof_enabled:1/m.test(persistence)) {
    faults.push({
      setting: 'appendonly',
      problem: 'is off: a restart of Redis loses acknowledged calls; set appendonly yes',
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
