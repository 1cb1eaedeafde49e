import type { Redis, ChainableCommander } from 'ioredis';
import { fields, list } from './parse';
import type { Fields } from './packed-fields';
import { Script, wellFormedJson } from '../scripts';
import { readReply } from './at-rest';

const script = new Script('read-together');

/** A command that only reads. */
export type Read = readonly [
  command: 'HEXISTS' | 'HGET' | 'HGETALL' | 'HMGET' | 'LINDEX' | 'LRANGE' | 'ZSCORE',
  key: string,
  ...args: (string | number)[],
];

/**
 * Reads several keys at one instant, also while Redis has no memory left. The reply is null for an absent value and for
 * a key of another type. HGETALL returns a flat list: see `hashFieldsOf`.
 */
export async function readTogether(redis: Redis, reads: readonly Read[]): Promise<unknown[]> {
  const keys = [...new Set(reads.map(([, key]) => key))];
  const wired = reads.map(([command, key, ...args]) => [command, keys.indexOf(key) + 1, ...args.map(String)]);
  const replies = list(await script.run(redis, keys, [wellFormedJson(wired)]), 'read-together');
  return reads.map(([command, ...args], at) => readReply(redis, command, args, replies[at]));
}

/** The fields of a reply to HGETALL; none when it is null. */
export function hashFieldsOf(reply: unknown): Record<string, string> {
  return reply === null ? {} : Object.fromEntries(fields(reply, 'read-together'));
}

/** The replies of a pipeline. A key of another type gives undefined; any other error rejects. */
export async function repliesOf(chain: ChainableCommander): Promise<unknown[]> {
  const replies = (await chain.exec()) ?? [];
  return replies.map(([error, reply]) => {
    if (error && !error.message.startsWith('WRONGTYPE')) throw error;
    return error ? undefined : reply;
  });
}

/** The fields of hashes in the given order; none of an absent key or one of another type. */
export async function readHashes(redis: Redis, keys: readonly string[]): Promise<Fields[]> {
  if (keys.length === 0) return [];
  const reading = redis.pipeline();
  for (const key of keys) reading.hgetall(key);
  return (await repliesOf(reading)).map((reply) => {
    if (typeof reply !== 'object' || reply === null) return {};
    return Object.fromEntries(Object.entries(reply).map(([name, value]) => [name, String(value)]));
  });
}

/** A score as Unix ms; null without one. */
export function timestampOf(score: unknown): number | null {
  return score === null || score === undefined ? null : Number(score);
}
