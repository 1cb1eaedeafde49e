import type { Redis } from 'ioredis';
import { cachedToken } from '../../contracts/replies';
import { jsonText } from '../../domain/stored';
import type { StoredToken, TokenCache } from '../../workflow/service/service-port';
import { KEYS } from '../keys';
import { acquireLock, releaseLock } from '../redis/locks';

/** Lifetime of the cached token. A token without a known expiry is renewed at the latest then. */
const KEPT_SECONDS = 86_400;

/**
 * The access token that all processes share, and the lock under which one of them renews it. A token of another access
 * counts as absent, so that it is never sent to another address or in the name of another client.
 * @param access identifies the addresses of the service and the client; stored with the token.
 */
export function createTokenCache(redis: Redis, access: string): TokenCache {
  return {
    async read() {
      const stored = await readStored(redis);
      if (stored === null || stored.access !== access) return null;
      const { token, expiresAtMs } = stored;
      return { token, expiresAtMs };
    },
    tryLock: (owner, ttlMs) => acquireLock(redis, KEYS.tokenLock, owner, ttlMs),
    async write(token) {
      await redis.set(KEYS.token, JSON.stringify({ ...token, access }), 'EX', KEPT_SECONDS);
    },
    unlock: (owner) => releaseLock(redis, KEYS.tokenLock, owner),
  };
}

/** The end of the shared token of any access; null when there is none. */
export async function readTokenEnd(redis: Redis): Promise<Pick<StoredToken, 'expiresAtMs'> | null> {
  return readStored(redis);
}

/** How long ago the shared token was stored, ms; null when there is none. */
export async function readTokenAgeMs(redis: Redis): Promise<number | null> {
  const leftMs = await redis.pttl(KEYS.token);
  return leftMs < 0 ? null : KEPT_SECONDS * 1000 - leftMs;
}

/** Null without a token, and for one that cannot be read: the next renewal replaces it. */
async function readStored(redis: Redis) {
  return storedToken.safeParse(await redis.get(KEYS.token)).data ?? null;
}

const storedToken = jsonText(cachedToken);
