import { inflateRawSync } from 'node:zlib';
import { Redis } from 'ioredis';

/** Everything that a Redis holds as text: each key, and its value in full. Packed records are also unpacked. */
export async function textOfRedis(url: string): Promise<string> {
  const redis = new Redis(url);
  try {
    const keys = await keysOf(redis);
    const values = await Promise.all(keys.map((key) => valueOf(redis, key)));
    return keys.map((key, at) => `${key} ${JSON.stringify(values[at])}`).join('\n');
  } finally {
    redis.disconnect();
  }
}

/** By SCAN, which deploy/redis/users.acl allows. It may return a key twice. */
async function keysOf(redis: Redis): Promise<string[]> {
  const keys = new Set<string>();
  let cursor = '0';
  do {
    const [next, found] = await redis.scan(cursor, 'COUNT', 1000);
    for (const key of found) keys.add(key);
    cursor = next;
  } while (cursor !== '0');
  return [...keys];
}

async function valueOf(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  switch (type) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return unpacked(await redis.hgetall(key));
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1');
    case 'stream':
      return redis.xrange(key, '-', '+');
    default:
      return null;
  }
}

function unpacked(fields: Record<string, string>): unknown {
  if (fields['z'] === undefined) return fields;
  try {
    const packed: unknown = JSON.parse(inflateRawSync(Buffer.from(fields['z'], 'base64')).toString());
    return { ...fields, packed };
  } catch {
    return fields;
  }
}
