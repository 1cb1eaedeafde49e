import type { Redis } from 'ioredis';
import type { Clock } from '../../platform/clock';
import { writability } from './connect';

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
