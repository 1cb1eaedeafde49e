import type { Redis } from 'ioredis';
import type { RedisFault, RedisSetting } from '../../domain/ops/redis-settings';
import { errorMessage } from '../../platform/errors';
import { isReplica, isReply, writability } from './connect';
import { KEYS } from '../keys';
import type { Clock } from '../../platform/clock';

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
    syncSettings(redis),
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
  const replica: RedisFault[] = isReplica(replication)
    ? [{ setting: 'role', problem: 'is replica: it loses what it stored when it synchronises with its master' }]
    : [];
  const isPolicyHidden = policy === undefined && !trustsPersistence;
  return {
    faults: [...replica, ...kept.faults, ...eviction],
    unreadable: [...kept.unreadable, ...(isPolicyHidden ? (['maxmemory-policy'] as const) : [])],
  };
}

function persistenceOf(isAppending: string | undefined, sync: SyncSettings): RedisSafety {
  if (isAppending === '0') {
    const problem = 'is off: a restart of Redis loses acknowledged calls; set appendonly yes';
    return { faults: [{ setting: 'appendonly', problem }], unreadable: [] };
  }
  const { policy, skipsDuringRewrite } = sync;
  const late: RedisFault[] = [];
  if (policy !== null && policy !== 'always') {
    const problem = `is ${policy}: a power failure loses the last acknowledged calls; set appendfsync always`;
    late.push({ setting: 'appendfsync', problem });
  }
  if (skipsDuringRewrite === true) {
    const problem =
      'is yes: a power failure while Redis rewrites its file loses acknowledged calls; set no-appendfsync-on-rewrite no';
    late.push({ setting: 'no-appendfsync-on-rewrite', problem });
  }
  const unreadable: RedisSetting[] = [
    ...(isAppending === undefined ? (['appendonly'] as const) : []),
    ...(policy === null ? (['appendfsync'] as const) : []),
    ...(skipsDuringRewrite === null ? (['no-appendfsync-on-rewrite'] as const) : []),
  ];
  return { faults: late, unreadable };
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

/** When the append-only file is synced; null: cannot be read. */
interface SyncSettings {
  readonly policy: string | null;
  /** True if it is not synced while Redis rewrites it. */
  readonly skipsDuringRewrite: boolean | null;
}

/** Rejects when Redis does not answer. */
async function syncSettings(redis: Redis): Promise<SyncSettings> {
  try {
    // Redis 6.2 takes one name or pattern.
    const words = await redis.config('GET', '*appendfsync*');
    const valueOf = (name: string) => (words.includes(name) ? (words[words.indexOf(name) + 1] ?? null) : null);
    const duringRewrite = valueOf('no-appendfsync-on-rewrite');
    return {
      policy: valueOf('appendfsync'),
      skipsDuringRewrite: duringRewrite === null ? null : duringRewrite === 'yes',
    };
  } catch (error) {
    if (isReply(error)) return { policy: null, skipsDuringRewrite: null };
    throw error;
  }
}

/** What one process sees of Redis. */
export interface RedisState {
  readonly isWritable: boolean;
  /** Time of one round trip; null when Redis does not answer. */
  readonly latencyMs: number | null;
  /** Null when Redis does not show it. */
  readonly memory: { readonly usedBytes: number; readonly limitBytes: number } | null;
}

/** Tries a write that changes nothing, and reads the memory of Redis. Never rejects. */
export async function readRedisState(redis: Redis, clock: Pick<Clock, 'monotonicMs'>): Promise<RedisState> {
  const startedMs = clock.monotonicMs();
  const state = await writability(redis);
  const latencyMs = clock.monotonicMs() - startedMs;
  if (state === 'unreachable') return { isWritable: false, latencyMs: null, memory: null };
  return { isWritable: state === 'writable', latencyMs, memory: await readRedisMemory(redis) };
}

/** The used memory and `maxmemory`, where 0 means no limit. Null if Redis does not show them to this user. */
export async function readRedisMemory(redis: Redis): Promise<RedisState['memory']> {
  const info = await redis.info('memory').catch(() => '');
  const numberOf = (name: string) => new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1];
  const [used, limit] = [numberOf('used_memory'), numberOf('maxmemory')];
  return used === undefined ? null : { usedBytes: Number(used), limitBytes: Number(limit ?? 0) };
}
