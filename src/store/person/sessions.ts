import type { Redis } from 'ioredis';
import { sessionRecord } from '../../contracts/outbox/records';
import { jsonText } from '../../domain/stored';
import type { Session, SessionStore } from '../../workflow/operator-port';
import { sessionKey, signInsKey } from '../keys';
import { wellFormedJson } from '../scripts';

/** The sessions of users. A session expires when it is not prolonged for its lifetime. */
export function createSessionStore(redis: Redis): SessionStore {
  return {
    async begin(idHash, session, lifetimeMs) {
      await redis.set(sessionKey(idHash), wellFormedJson(session), 'PX', lifetimeMs);
    },
    async read(idHash) {
      const json = await redis.get(sessionKey(idHash));
      return sessionOf(json);
    },
    async prolong(idHash, lifetimeMs) {
      // One command reads and prolongs, so that a session that ends meanwhile is not recreated.
      const json = await redis.getex(sessionKey(idHash), 'PX', lifetimeMs);
      return sessionOf(json);
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
      // A session that has begun meanwhile stays listed.
      await redis.zrem(signInsKey(holderId), ...idHashes);
    },
  };
}

/** Null for a session that cannot be decoded: the user signs in again. */
function sessionOf(json: string | null): Session | null {
  return storedSession.safeParse(json).data ?? null;
}

const storedSession = jsonText(sessionRecord);
