import { isServerFault, isUnreadableEncoding, notBeforeOf, type Exchange } from '../domain/service/policy';
import { DAY_MS } from '../domain/timestamp';
import { startAge, type Clock } from '../platform/clock';
import type { StoredToken, TokenCache } from '../workflow/service/service-port';
import type { TokenData } from './read-answer';

/**
 * There is no token. `connection`: the service refused one. `surely_not_sent`: it failed or was not reached, an outage as
 * for any other call. `dropped`: none was requested, because the budget of token calls has no permit, or could not be
 * shared; the service is unaffected and the call waits.
 */
export type WithoutToken = Extract<Exchange, { kind: 'connection' | 'surely_not_sent' | 'dropped' }>;

export type Renewed =
  | { readonly ok: true; readonly token: StoredToken }
  | { readonly ok: false; readonly exchange: WithoutToken };

export interface TokenRenewalTools {
  readonly tokens: TokenCache;
  readonly clock: Clock;
  /** The longest a token call takes. */
  readonly timeoutMs: number;
  /** Gets a token from the service, without retries. */
  readonly fetchToken: () => Promise<Renewed>;
  readonly waitMs: (ms: number) => Promise<void>;
  /** Called when the shared cache fails; the error never contains the token. */
  readonly onCacheFailure: (error: unknown) => void;
}

/** The lock outlives the longest token call by this much. */
const LOCK_MARGIN_MS = 2_000;
const POLL_MS = 50;

/**
 * Replaces a token for all processes with one call to the service: the process that gets the lock makes the call, the
 * others wait until the new token appears, or take the lock once it is free again.
 *
 * The races, and how each is handled:
 * - Two processes find the token dead at once: only one gets the lock; the cache is read again after getting it, since
 *   the previous holder may have written in between.
 * - A process finds the token dead that another has replaced already: the cache holds another token, which is used.
 * - A process freezes during its call until its lock has expired, and another has renewed meanwhile: the age of the
 *   lock shows that it is late. It writes only if it gets the lock again and the cache still holds what it held
 *   before the call; else it takes over what is there. So an older token does not overwrite a newer one.
 * - It freezes between that look and its write, for as long as the lock lasts: the older token wins. The next 401 finds
 *   the cache unchanged and renews once more; nothing is lost but that call.
 * - A process dies holding the lock: the lock expires, and the calls of processes that waited longer than `timeoutMs`
 *   wait.
 * @param stale the token to replace, null when there is none.
 */
export async function renewToken(stale: string | null, tools: TokenRenewalTools): Promise<Renewed> {
  const { tokens, clock, timeoutMs } = tools;
  const holder = clock.id();
  const giveUpAtMs = clock.monotonicMs() + timeoutMs;
  for (;;) {
    const other = await tokens.read();
    if (isNewer(other, stale, clock.nowMs())) return { ok: true, token: other };
    const lockAgeMs = startAge(clock);
    if (await lockOrRelease(holder, tools)) {
      try {
        return await renewAlone(stale, { ...tools, lockAgeMs });
      } finally {
        await tokens.unlock(holder).catch(tools.onCacheFailure);
      }
    }
    if (clock.monotonicMs() >= giveUpAtMs) return unshared(clock);
    await tools.waitMs(POLL_MS * (1 + clock.random()));
  }
}

/** Acquires the lock. When the reply is lost, the lock may be held, and would stop all processes until it expires. */
async function lockOrRelease(
  holder: string,
  { tokens, timeoutMs, onCacheFailure }: Pick<TokenRenewalTools, 'tokens' | 'timeoutMs' | 'onCacheFailure'>,
): Promise<boolean> {
  try {
    return await tokens.tryLock(holder, timeoutMs + LOCK_MARGIN_MS);
  } catch (error) {
    await tokens.unlock(holder).catch(onCacheFailure);
    throw error;
  }
}

/** The longest wait that the service can impose on the token call; jitter lengthens it to at most five minutes. */
export const TOKEN_WAIT_MAX_MS = 240_000;

/** Limits the wait after a token call, because all sending depends on it. */
export function withBoundedWait(exchange: Exchange, nowMs: number): Exchange {
  if (!('notBeforeMs' in exchange) || exchange.notBeforeMs === null) return exchange;
  return { ...exchange, notBeforeMs: Math.min(exchange.notBeforeMs, nowMs + TOKEN_WAIT_MAX_MS) };
}

/** The wait before a token is shared again. */
const UNSHARED_WAIT_MS = 1000;

/** No token, for a reason that shows nothing about the service. */
export function unshared(clock: Pick<Clock, 'nowMs'>): Renewed & { ok: false } {
  return { ok: false, exchange: { kind: 'dropped', cause: 'no_token', notBeforeMs: clock.nowMs() + UNSHARED_WAIT_MS } };
}

/** A connection without a token. */
export function noToken(cause: string, notBeforeMs: number | null = null): Renewed & { ok: false } {
  return { ok: false, exchange: { kind: 'connection', cause, notBeforeMs } };
}

/** Converts the outcome of a token call without a token for the calls that need one. */
export function noTokenAfter(exchange: Exchange): Renewed & { ok: false } {
  switch (exchange.kind) {
    case 'accepted':
    case 'contract_broken':
      return noToken('token_contract_broken');
    case 'not_the_service':
      return noToken(isUnreadableEncoding(exchange.cause) ? `token_${exchange.cause}` : 'token_contract_broken');
    case 'refused':
      // The rate limit of token calls is reached: the calls that need one wait, as without a permit of our own.
      if (exchange.httpStatus === 429 && exchange.notBeforeMs !== null) {
        return { ok: false, exchange: { kind: 'dropped', cause: 'no_permit', notBeforeMs: exchange.notBeforeMs } };
      }
      return isServerFault(exchange.httpStatus)
        ? failing(`http_${exchange.httpStatus}`, exchange)
        : noToken(`token_http_${exchange.httpStatus}`, exchange.notBeforeMs);
    case 'surely_not_sent':
    case 'partly_sent':
    case 'unanswered':
      return failing(exchange.cause, exchange);
    case 'connection':
    case 'dropped':
      return { ok: false, exchange };
  }
}

function failing(cause: string, exchange: Exchange): Renewed & { ok: false } {
  const notBeforeMs = notBeforeOf(exchange);
  return { ok: false, exchange: { kind: 'surely_not_sent', cause: `token_${cause}`, notBeforeMs } };
}

async function renewAlone(
  stale: string | null,
  tools: TokenRenewalTools & { readonly lockAgeMs: () => number },
): Promise<Renewed> {
  const { tokens, clock, timeoutMs } = tools;
  const before = await tokens.read();
  if (isNewer(before, stale, clock.nowMs())) return { ok: true, token: before };
  const fetched = await tools.fetchToken();
  if (!fetched.ok) return fetched;
  try {
    if (tools.lockAgeMs() < timeoutMs + LOCK_MARGIN_MS) await tokens.write(fetched.token);
    else return { ok: true, token: await writeLate(fetched.token, before, tools) };
  } catch (error) {
    // The token is good even if it could not be shared.
    tools.onCacheFailure(error);
  }
  return fetched;
}

async function writeLate(
  mine: StoredToken,
  before: StoredToken | null,
  tools: TokenRenewalTools,
): Promise<StoredToken> {
  const { tokens, clock } = tools;
  const holder = clock.id();
  if (!(await lockOrRelease(holder, tools))) return mine;
  try {
    const there = await tokens.read();
    if (there !== null && there.token !== before?.token) return there;
    await tokens.write(mine);
    return mine;
  } finally {
    await tokens.unlock(holder).catch(tools.onCacheFailure);
  }
}

function isNewer(found: StoredToken | null, stale: string | null, nowMs: number): found is StoredToken {
  return found !== null && found.token !== stale && !isOver(found, nowMs);
}

/** A token and when this process first saw it. */
export interface KnownToken extends StoredToken {
  readonly seenAtMs: number;
}

/**
 * How long before its end a token is renewed.
 * Open question Q8: the lifetime of a token is not documented; a readable `exp` is believed, else `expires_in`, else the
 * first 401 tells.
 */
const EARLY_MS = 60_000;
/** A later end is in another unit or nonsense. */
const LASTS_MAX_MS = 365 * DAY_MS;

/**
 * A token that was just received, with its end: that of a readable JWT, else after the lifetime that came with it. An
 * end in the past means that the clocks disagree, and one after more than a year is nonsense: both are ignored, and a 401
 * ends the token.
 */
export function freshToken({ token, expires_in: lifetimeS }: TokenData, nowMs: number): StoredToken {
  const isSane = (endMs: number | null) => endMs !== null && endMs > nowMs && endMs <= nowMs + LASTS_MAX_MS;
  const ends = [jwtExpiresAtMs(token), typeof lifetimeS === 'number' ? nowMs + lifetimeS * 1000 : null];
  return { token, expiresAtMs: ends.find(isSane) ?? null };
}

/** True when the end of the token is known and has passed. */
export function isOver(token: StoredToken, nowMs: number): boolean {
  return token.expiresAtMs !== null && token.expiresAtMs <= nowMs;
}

/** True when the token lasts longer than the other one. An unknown end is later than any known one. */
export function endsLater(token: StoredToken, other: StoredToken): boolean {
  return (token.expiresAtMs ?? Infinity) > (other.expiresAtMs ?? Infinity);
}

/**
 * True when a token that still works should be replaced: a minute before its end, but never before half of what was left
 * when this process first saw it, so that a token of a few seconds is not renewed with every call.
 */
export function isDueEarly(token: KnownToken, nowMs: number): boolean {
  if (token.expiresAtMs === null) return false;
  return nowMs >= token.expiresAtMs - Math.min(EARLY_MS, (token.expiresAtMs - token.seenAtMs) / 2);
}

/** The `exp` of a JWT, ms since the epoch; null when the text is no readable JWT. The signature is not ours to check. */
function jwtExpiresAtMs(token: string): number | null {
  const payload = token.split('.')[1];
  if (payload === undefined) return null;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    if (typeof claims !== 'object' || claims === null || !('exp' in claims)) return null;
    return typeof claims.exp === 'number' && Number.isFinite(claims.exp) ? claims.exp * 1000 : null;
  } catch {
    return null;
  }
}
