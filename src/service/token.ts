import { setTimeout as waitMs } from 'node:timers/promises';
import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log';
import type { StoredToken, TokenCache } from '../workflow/service-port';
import { isDueEarly, isOver, noToken, renewToken, type KnownToken, type Renewed } from './token-renewal';

/** Where every call gets its token from. */
export interface TokenSource {
  /** Whether `current` would answer without asking the service. */
  isAtHand(): Promise<boolean>;
  /** A token to send with: the shared one while it lasts, renewed shortly before its end. */
  current(): Promise<Renewed>;
  /** Another token than the one the service just refused: the shared one if it is another, else a renewed one. */
  replace(refused: string): Promise<Renewed>;
  /** Takes in a token that was had on another way, for all processes unless one of them is renewing. */
  adopt(token: StoredToken): Promise<void>;
}

/** How long a token is used without looking into the shared cache again; a 401 always looks. */
const TRUSTED_MS = 1_000;
const EARLY_RETRY_MIN_MS = 1_000;
const ADOPT_LOCK_MS = 2_000;

/**
 * Keeps the access token of this process in step with the shared cache and renews it with one call at a time, across
 * all processes. Never throws: a cache that fails leaves the token already known, or a connection without a token.
 */
export function createTokenSource(tools: {
  readonly tokens: TokenCache;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly fetchToken: () => Promise<Renewed>;
}): TokenSource {
  const { tokens, clock, log, timeoutMs } = tools;
  let known: KnownToken | null = null;
  let readAtMs = -Infinity;
  let renewing: Promise<Renewed> | null = null;
  let earlyNotBeforeMs = 0;
  let refusal: (Renewed & { ok: false }) | null = null;

  const onCacheFailure = (error: unknown) =>
    // Only the kind of error: its text comes from a client that was handed the token.
    log.warn('token_cache.failed', { error_name: error instanceof Error ? error.name : 'unknown' });

  const remember = (token: StoredToken) => {
    if (known?.token !== token.token) known = { ...token, seenAtMs: clock.nowMs() };
    readAtMs = clock.monotonicMs();
  };

  /** Looks into the shared cache; an answer that a renewal has overtaken meanwhile is dropped. */
  const look = async () => {
    const before = known;
    readAtMs = clock.monotonicMs();
    try {
      const stored = await tokens.read();
      if (stored !== null && known === before) remember(stored);
    } catch (error) {
      onCacheFailure(error);
    }
  };

  /** Asks the service, unless it said to leave it alone until later. */
  const fetchToken = async (): Promise<Renewed> => {
    if (refusal !== null && clock.nowMs() < (refusal.exchange.notBeforeMs ?? 0)) return refusal;
    const fetched = await tools.fetchToken();
    refusal = fetched.ok ? null : fetched;
    return fetched;
  };

  const renew = async (stale: string | null): Promise<Renewed> => {
    try {
      const renewed = await renewToken(stale, { tokens, clock, timeoutMs, fetchToken, waitMs, onCacheFailure });
      if (renewed.ok) remember(renewed.token);
      return renewed;
    } catch (error) {
      onCacheFailure(error);
      return noToken('token_cache_failed');
    } finally {
      renewing = null;
    }
  };

  /** One renewal at a time in this process; who comes later shares its result. */
  const renewOnce = (stale: string | null): Promise<Renewed> => (renewing ??= renew(stale));

  /** The old token still works, so nothing depends on this renewal: when it fails, the next try waits. */
  const renewEarly = async (token: KnownToken): Promise<Renewed> => {
    const renewed = await renewOnce(token.token);
    const nowMs = clock.nowMs();
    if (renewed.ok && renewed.token.token !== token.token) return renewed;
    const leftMs = Math.max(0, (token.expiresAtMs ?? nowMs) - nowMs);
    earlyNotBeforeMs = nowMs + Math.max(EARLY_RETRY_MIN_MS, leftMs / 2);
    return leftMs > 0 ? { ok: true, token } : renewed;
  };

  /** The token known after a look at the shared cache if the last one is a while ago, and what is to be done with it. */
  const standing = async (): Promise<{ token: KnownToken | null; what: 'use' | 'renew' | 'renew_early' }> => {
    if (known === null || clock.monotonicMs() - readAtMs >= TRUSTED_MS) await look();
    const [token, nowMs] = [known, clock.nowMs()];
    if (token === null || isOver(token, nowMs)) return { token, what: 'renew' };
    const isEarly = isDueEarly(token, nowMs) && nowMs >= earlyNotBeforeMs;
    return { token, what: isEarly ? 'renew_early' : 'use' };
  };

  return {
    isAtHand: async () => (await standing()).what === 'use',
    async current() {
      const { token, what } = await standing();
      if (token === null || what === 'renew') return renewOnce(token?.token ?? null);
      return what === 'renew_early' ? renewEarly(token) : { ok: true, token };
    },
    replace: renewOnce,
    async adopt(token) {
      remember(token);
      const holder = clock.id();
      try {
        if (!(await tokens.tryLock(holder, ADOPT_LOCK_MS))) return;
        try {
          await tokens.write(token);
        } finally {
          await tokens.unlock(holder);
        }
      } catch (error) {
        onCacheFailure(error);
      }
    },
  };
}
