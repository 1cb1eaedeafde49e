import type { Redis } from 'ioredis';
import type { RedisFault, RedisSetting } from '../domain/redis-settings';
import { errorMessage } from '../platform/errors';
import { isReply } from './connect';
import { KEYS } from './keys';

export interface RedisSafety {
  readonly faults: readonly RedisFault[];
  /** Settings that this server does not show, such as many hosted ones, or hides from this user. */
  readonly unreadable: readonly RedisSetting[];
}

/** What is wrong about a setting that cannot be read. */
export const UNREADABLE_PROBLEM = 'cannot be read: what is promised depends on the provider of Redis';

/**
 * Finds what can lose acknowledged data: a replica, no append-only file, a file that is not synced at every write, or
 * eviction. With `trustsPersistence` the provider promises what cannot be read here, and keeps the data in its own way.
 * Rejects when Redis does not answer.
 */
export async function redisSafety(
  redis: Redis,
  { trustsPersistence }: { readonly trustsPersistence: boolean },
): Promise<RedisSafety> {
  const [replication, persistence, memory, sync] = await Promise.all([
    infoOf(redis, 'replication'),
    infoOf(redis, 'persistence'),
    infoOf(redis, 'memory'),
    syncPolicy(redis),
  ]);
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
  const isAppending = /^aof_enabled:(\d)/m.exec(persistence)?.[1];
  // A provider may keep the data without an append-only file of Redis.
  const kept = trustsPersistence ? { faults: [], unreadable: [] } : persistenceOf(isAppending, sync);
  const eviction: RedisFault[] =
    policy === undefined || policy === 'noeviction'
      ? []
      : [
          {
            setting: 'maxmemory-policy',
            problem: `is ${policy}: Redis may drop tows when memory is short; set maxmemory-policy noeviction`,
          },
        ];
  // A replica may take writes (replica-read-only no): its next synchronisation with the master replaces all its data.
  const replica: RedisFault[] = /^role:slave/m.test(replication)
    ? [{ setting: 'role', problem: 'is replica: it loses what it stored when it synchronises with its master' }]
    : [];
  const isPolicyHidden = policy === undefined && !trustsPersistence;
  return {
    faults: [...replica, ...kept.faults, ...eviction],
    unreadable: [...kept.unreadable, ...(isPolicyHidden ? (['maxmemory-policy'] as const) : [])],
  };
}

function persistenceOf(isAppending: string | undefined, sync: string | null): RedisSafety {
  if (isAppending === '0') {
    const problem = 'is off: a restart of Redis loses acknowledged calls; set appendonly yes';
    return { faults: [{ setting: 'appendonly', problem }], unreadable: [] };
  }
  const unreadable: RedisSetting[] = [
    ...(isAppending === undefined ? (['appendonly'] as const) : []),
    ...(sync === null ? (['appendfsync'] as const) : []),
  ];
  if (sync === null || sync === 'always') return { faults: [], unreadable };
  const problem = `is ${sync}: a power failure loses the last acknowledged calls; set appendfsync always`;
  return { faults: [{ setting: 'appendfsync', problem }], unreadable };
}

/** A part of what Redis reports about itself; empty when it refuses to. Rejects when it does not answer. */
export async function infoOf(
  redis: Redis,
  section: 'persistence' | 'memory' | 'server' | 'replication',
): Promise<string> {
  try {
    return await redis.info(section);
  } catch (error) {
    if (isReply(error)) return '';
    throw error;
  }
}

/** A Redis Cluster moves keys between its servers, which a connection to one server cannot follow. */
export async function isCluster(redis: Redis): Promise<boolean> {
  const server = await infoOf(redis, 'server');
  if (server !== '') return /^redis_mode:cluster/m.test(server);
  try {
    await redis.get(KEYS.schemaVersion);
    return false;
  } catch (error) {
    if (isReply(error)) return /^(MOVED|ASK|CLUSTERDOWN) /.test(errorMessage(error));
    throw error;
  }
}

/** The setting appendfsync; null when it cannot be read. Rejects when Redis does not answer. */
async function syncPolicy(redis: Redis): Promise<string | null> {
  try {
    const [, policy] = await redis.config('GET', 'appendfsync');
    return policy ?? null;
  } catch (error) {
    if (isReply(error)) return null;
    throw error;
  }
}
