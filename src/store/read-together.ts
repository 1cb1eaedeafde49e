import type { Redis } from 'ioredis';
import { fields, list } from './parse';
import { Script } from './scripts';
import { wellFormedJson } from './well-formed';

const script = new Script('read-together');

/** A command that only reads: its name, its key and its arguments. */
export type Read = readonly [
  command: 'HEXISTS' | 'HGET' | 'HGETALL' | 'HMGET' | 'LINDEX' | 'LRANGE' | 'ZSCORE',
  key: string,
  ...args: (string | number)[],
];

/**
 * The replies of several reads at one instant, also while Redis has no memory left. Null for what is absent, and for a key
 * of another type. HGETALL gives a flat list: see `hashOf`.
 */
export async function readTogether(redis: Redis, reads: readonly Read[]): Promise<unknown[]> {
  const keys = [...new Set(reads.map(([, key]) => key))];
  const wired = reads.map(([command, key, ...args]) => [command, keys.indexOf(key) + 1, ...args.map(String)]);
  return list(await script.run(redis, keys, [wellFormedJson(wired)]), 'read-together');
}

/** A reply to HGETALL; an empty hash when it is null. */
export function hashOf(reply: unknown): Record<string, string> {
  return reply === null ? {} : Object.fromEntries(fields(reply, 'read-together'));
}
