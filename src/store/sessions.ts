import type { Redis } from 'ioredis';
import { sessionRecord } from '../contracts/session-record';
import type { Session, SessionStore } from '../workflow/operator-port';
import { sessionKey, signInsKey } from './keys';

/** Sessions of people; Redis forgets each by itself once nobody has prolonged it for its lifetime. */
export function createSessionStore(redis: Redis): SessionStore {
  return {
    async begin(idHash, { keyHash, createdAt }, lifetimeMs) {
      await redis.set(sessionKey(idHash), JSON.stringify({ keyHash, createdAt } satisfies Session), 'PX', lifetimeMs);
    },
    async read(idHash) {
      const json = await redis.get(sessionKey(idHash));
      return json === null ? null : sessionOf(json);
    },
    async prolong(idHash, lifetimeMs) {
      // One command reads and prolongs, so that no session can come back to life that ended in between.
      const json = await redis.getex(sessionKey(idHash), 'PX', lifetimeMs);
      return json === null ? null : sessionOf(json);
    },
    async end(idHash) {
      await redis.del(sessionKey(idHash));
    },
    async list(holderId, idHash, { atMs, lifetimeMs }) {
      const listed = signInsKey(holderId);
      const changes = redis
        .multi()
        .zadd(listed, atMs, idHash)
        .zremrangebyscore(listed, '-inf', String(atMs - lifetimeMs));
      for (const [error] of (await changes.pexpire(listed, lifetimeMs).exec()) ?? []) if (error) throw error;
    },
    async endAll(holderId) {
      const idHashes = await redis.zrange(signInsKey(holderId), 0, '-1');
      if (idHashes.length === 0) return;
      await redis.del(...idHashes.map(sessionKey));
      // One that has begun meanwhile stays listed.
      await redis.zrem(signInsKey(holderId), ...idHashes);
    },
  };
}

/** What cannot be read is no session: signing in again heals it. */
function sessionOf(json: string): Session | null {
  try {
    return sessionRecord.parse(JSON.parse(json));
  } catch {
    return null;
  }
}
