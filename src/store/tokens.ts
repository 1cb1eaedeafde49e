import type { Redis } from 'ioredis';
import { cachedToken } from '../contracts/replies';
import type { TokenCache } from '../workflow/service-port';
import { KEYS } from './keys';
import { acquireLock, releaseLock } from './locks';

/** Lifetime of the cached token. A token without a known expiry is renewed at the latest then. */
const KEPT_SECONDS = 86_400;

/** The access token that all processes share, and the lock under which one of them renews it. */
export function createTokenCache(redis: Redis): TokenCache {
  return {
    async read() {
      const json = await redis.get(KEYS.token);
      return json === null ? null : tokenOf(json);
    },
    tryLock: (owner, ttlMs) => acquireLock(redis, KEYS.tokenLock, owner, ttlMs),
    async write(token) {
      await redis.set(KEYS.token, JSON.stringify(token), 'EX', KEPT_SECONDS);
    },
    unlock: (owner) => releaseLock(redis, KEYS.tokenLock, owner),
  };
}

/** How long ago the shared token was stored, ms; null when there is none. */
export async function readTokenAgeMs(redis: Redis): Promise<number | null> {
  const leftMs = await redis.pttl(KEYS.token);
  return leftMs < 0 ? null : KEPT_SECONDS * 1000 - leftMs;
}

/** Null for a token that cannot be read: the next renewal replaces it. */
function tokenOf(json: string) {
  try {
    return cachedToken.parse(JSON.parse(json));
  } catch {
    return null;
  }
}
