import type { Clock } from '../platform/clock';
import { errorName } from '../platform/errors';
import type { Log } from '../platform/log/log';
import { pause } from '../platform/timers';
import type { StoredToken, TokenCache } from '../workflow/service/service-port';
import { endsLater, isDueEarly, isOver, renewToken, unshared, type KnownToken, type Renewed } from './token-renewal';

export interface TokenSource {
  /** Whether `current` would return a token without a call to the service. */
  isAtHand(): Promise<boolean>;
  /** The token to send with: the shared one until shortly before its end, then a new one. */
  current(): Promise<Renewed>;
  /** A token other than the one that was refused: the shared one if it differs, else a new one. */
  replace(refused: string): Promise<Renewed>;
  /** Stores a token that another call received, for all processes unless one of them is renewing. */
  adopt(token: StoredToken): Promise<void>;
}

/** How long a token is used before the shared cache is read again; a 401 always reads it. */
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
  /** By the monotonic clock, so that a change of the time of day delays no renewal. */
  let earlyNotBeforeMs = -Infinity;
  /** A token that the service has refused, and that could not be replaced: no call is made with it again. */
  let refusedToken: string | null = null;
  let refusal: { readonly renewed: Renewed; readonly untilMs: number } | null = null;

  const onCacheFailure = (error: unknown) =>
    // Only the kind of error: its text may contain the token.
    log.warn('token_cache.failed', { error_name: errorName(error) });

  const setKnown = (token: StoredToken) => {
    // The service may return the same token with another lifetime.
    const isSame = known?.token === token.token && known.expiresAtMs === token.expiresAtMs;
    if (!isSame) known = { ...token, seenAtMs: clock.nowMs() };
    readAtMs = clock.monotonicMs();
  };

  /** A token that was just received may have the text of the refused one: the service accepts it now. */
  const setReceived = (token: StoredToken) => {
    setKnown(token);
    refusedToken = null;
  };

  /** Reads the shared cache. A result that a renewal has overtaken is dropped. */
  const look = async () => {
    const before = known;
    readAtMs = clock.monotonicMs();
    try {
      const stored = await tokens.read();
      if (stored !== null && known === before) setKnown(stored);
    } catch (error) {
      onCacheFailure(error);
    }
  };

  /** Requests a token, unless the service asked to wait. */
  const fetchToken = async (): Promise<Renewed> => {
    if (refusal !== null && clock.monotonicMs() < refusal.untilMs) return refusal.renewed;
    const fetched = await tools.fetchToken();
    const waitMs = fetched.ok ? 0 : (fetched.exchange.notBeforeMs ?? 0) - clock.nowMs();
    refusal = waitMs > 0 ? { renewed: fetched, untilMs: clock.monotonicMs() + waitMs } : null;
    return fetched;
  };

  const renew = async (stale: string | null): Promise<Renewed> => {
    try {
      const renewed = await renewToken(stale, { tokens, clock, timeoutMs, fetchToken, waitMs: pause, onCacheFailure });
      if (renewed.ok) setReceived(renewed.token);
      return renewed;
    } catch (error) {
      onCacheFailure(error);
      return unshared(clock);
    } finally {
      renewing = null;
    }
  };

  /** One renewal at a time in this process; later callers share its result. */
  const renewOnce = (stale: string | null): Promise<Renewed> => (renewing ??= renew(stale));

  /** The old token still works, so a failure only delays the next attempt. */
  const renewEarly = async (token: KnownToken): Promise<Renewed> => {
    const renewed = await renewOnce(token.token);
    const nowMs = clock.nowMs();
    if (renewed.ok && (renewed.token.token !== token.token || endsLater(renewed.token, token))) return renewed;
    const leftMs = Math.max(0, (token.expiresAtMs ?? nowMs) - nowMs);
    earlyNotBeforeMs = clock.monotonicMs() + Math.max(EARLY_RETRY_MIN_MS, leftMs / 2);
    return leftMs > 0 ? { ok: true, token } : renewed;
  };

  /** The current token, read from the shared cache if necessary, and what to do with it. */
  const chooseToken = async (): Promise<{ token: KnownToken | null; what: 'use' | 'renew' | 'renew_early' }> => {
    if (known === null || clock.monotonicMs() - readAtMs >= TRUSTED_MS) await look();
    const [token, nowMs] = [known, clock.nowMs()];
    if (token === null || isOver(token, nowMs) || token.token === refusedToken) return { token, what: 'renew' };
    const isEarly = isDueEarly(token, nowMs) && clock.monotonicMs() >= earlyNotBeforeMs;
    return { token, what: isEarly ? 'renew_early' : 'use' };
  };

  return {
    isAtHand: async () => (await chooseToken()).what === 'use',
    async current() {
      const { token, what } = await chooseToken();
      if (token === null || what === 'renew') return renewOnce(token?.token ?? null);
      return what === 'renew_early' ? renewEarly(token) : { ok: true, token };
    },
    async replace(refused) {
      const isShared = renewing !== null;
      const renewed = await renewOnce(refused);
      // A renewal that began for an older token may have found the one that is refused now.
      const isRefused = isShared && renewed.ok && renewed.token.token === refused;
      const replaced = isRefused ? await renewOnce(refused) : renewed;
      if (!replaced.ok) refusedToken = refused;
      return replaced;
    },
    async adopt(token) {
      setReceived(token);
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
