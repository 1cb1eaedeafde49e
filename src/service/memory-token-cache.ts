import type { Clock } from '../platform/clock';
import type { StoredToken, TokenCache } from '../workflow/service-port';

/** A token cache within one process, for tools and tests. It behaves like the shared one, without durability. */
export function createMemoryTokenCache(clock: Pick<Clock, 'monotonicMs'>): TokenCache {
  let stored: StoredToken | null = null;
  let lock: { readonly holder: string; readonly endsAtMs: number } | null = null;
  return {
    async read() {
      return stored;
    },
    async tryLock(holder, ttlMs) {
      const nowMs = clock.monotonicMs();
      if (lock !== null && lock.holder !== holder && nowMs < lock.endsAtMs) return false;
      lock = { holder, endsAtMs: nowMs + ttlMs };
      return true;
    },
    async write(token) {
      stored = token;
    },
    async unlock(holder) {
      if (lock?.holder === holder) lock = null;
    },
  };
}
