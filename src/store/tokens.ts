import type { Redis } from 'ioredis';
import { cachedToken } from '../contracts/replies';
import type { TokenCache } from '../workflow/service-port';
import { KEYS } from './keys';
import { Script } from './scripts';

const unlock = new Script('unlock');
/** Longer than any run of a process needs it; a token without a known end is asked for anew at the latest then. */
const KEEP_SECONDS = 86_400;

/** The access token shared by all processes, and the right to renew it that only one holds at a time. */
export function createTokenCache(redis: Redis): TokenCache {
  return {
    async read() {
      const json = await redis.get(KEYS.token);
      return json === null ? null : tokenOf(json);
    },
    async tryLock(holder, ttlMs) {
      return (await redis.set(KEYS.tokenLock, holder, 'PX', ttlMs, 'NX')) === 'OK';
    },
    async write(token) {
      await redis.set(KEYS.token, JSON.stringify(token), 'EX', KEEP_SECONDS);
    },
    async unlock(holder) {
      await unlock.run(redis, [KEYS.tokenLock], [holder]);
    },
  };
}

/** What cannot be read is no token: the next one heals it. */
function tokenOf(json: string) {
  try {
    return cachedToken.parse(JSON.parse(json));
  } catch {
    return null;
  }
}
