import type { Redis } from 'ioredis';
import { containsAny, templateOf, type CommandTemplate } from './clone';

/** A sorted-set entry whose score is a time: clones are spread over the past. */
export interface TimedEntry {
  readonly key: string;
  readonly member: CommandTemplate;
  readonly score: number;
}

/** Everything in Redis that belongs to one tow. */
export interface Footprint {
  readonly commands: readonly CommandTemplate[];
  readonly timed: readonly TimedEntry[];
}

/** Scores above are times in milliseconds (2001 and later). */
const TIME_FROM = 1e12;

/**
 * Finds everything that names one of the ids of a tow: keys whose name contains one, with all they hold, and members and
 * fields of shared keys that contain one. Shared lists and streams are left out: they are the audit, whose entries form a
 * chain, and events.
 */
export async function footprintOf(redis: Redis, ids: readonly string[]): Promise<Footprint> {
  const commands: CommandTemplate[] = [];
  const timed: TimedEntry[] = [];
  for (const key of await redis.keys('*')) {
    const isOwn = containsAny(key, ids);
    const belongs = (bytes: Buffer) => isOwn || containsAny(bytes.toString('latin1'), ids);
    const add = (...parts: (Buffer | string | number)[]) => commands.push(templateOf(parts, ids));
    const before = commands.length;
    switch (await redis.type(key)) {
      case 'string':
        if (isOwn) add('SET', key, (await redis.getBuffer(key)) ?? '');
        break;
      case 'list':
        if (isOwn) add('RPUSH', key, ...(await redis.lrangeBuffer(key, 0, -1)));
        break;
      case 'set':
        for (const member of await redis.smembersBuffer(key)) if (belongs(member)) add('SADD', key, member);
        break;
      case 'hash':
        for (const [field, value] of pairs(await redis.callBuffer('HGETALL', key))) {
          if (belongs(field)) add('HSET', key, field, value);
        }
        break;
      case 'zset':
        for (const [member, score] of pairs(await redis.zrangeBuffer(key, '0', '-1', 'WITHSCORES'))) {
          if (!belongs(member)) continue;
          const at = Number(score.toString());
          if (at > TIME_FROM && !isOwn) timed.push({ key, member: templateOf([member], ids), score: at });
          else add('ZADD', key, score, member);
        }
        break;
      default:
        break;
    }
    const expiresInMs = await redis.pttl(key);
    if (isOwn && expiresInMs > 0 && commands.length > before) add('PEXPIRE', key, expiresInMs);
  }
  return { commands, timed };
}

/** A flat reply of names and values as pairs. */
function pairs(reply: unknown): [Buffer, Buffer][] {
  const flat = Array.isArray(reply) ? reply.filter((item) => Buffer.isBuffer(item)) : [];
  return flat.flatMap((item, index) => {
    const next = flat[index + 1];
    return index % 2 === 0 && next !== undefined ? [[item, next] satisfies [Buffer, Buffer]] : [];
  });
}
