import type { Exchange } from '../domain/policy';
import type { Clock } from '../platform/clock';
import type { StoredToken, TokenCache } from '../workflow/service-port';
import { isOver } from './token-expiry';

/**
 * No token could be had: a condition of the connection. Or none was asked for, because the budget of token calls has no
 * slot: then the connection is as good as before, and whoever needs the token waits for the slot.
 */
export type WithoutToken = Extract<Exchange, { kind: 'connection' | 'dropped' }>;

export type Renewed =
  { readonly ok: true; readonly token: StoredToken } | { readonly ok: false; readonly exchange: WithoutToken };

export interface RenewalTools {
  readonly tokens: TokenCache;
  readonly clock: Clock;
  /** The longest a token call takes. */
  readonly timeoutMs: number;
  /** Gets a token from the service, without retries. */
  readonly fetchToken: () => Promise<Renewed>;
  readonly waitMs: (ms: number) => Promise<void>;
  /** Told of a shared cache that fails; the token itself is never in the error. */
  readonly onCacheFailure: (error: unknown) => void;
}

/** The right to renew outlives the longest token call by this much. */
const LOCK_MARGIN_MS = 2_000;
const POLL_MS = 50;

/**
 * Replaces a token for all processes with one call to the service: whoever gets the right to renew makes the call, the
 * others wait until the new token appears, or take the right themselves once it is free again.
 *
 * The races, and what holds against each:
 * - Two processes find the token dead at once: only one gets the right; the cache is read again after getting it, since
 *   the one before may have written in between.
 * - A process finds the token dead that another has replaced already: the cache holds another token, which is used.
 * - A process freezes during its call until its right has ended, and another has renewed meanwhile: a clock that never
 *   jumps tells it that it is late. It writes only if it gets the right anew and the cache still holds what it held
 *   before the call; else it takes over what is there. So an older token does not overwrite a newer one.
 * - It freezes between that look and its write, for as long as the right lasts: the older token wins. The next 401 finds
 *   the cache unchanged and renews once more; nothing is lost but that call.
 * - A process dies holding the right: it ends by itself, and those who waited longer than `timeoutMs` report a
 *   connection that does not work for now.
 * @param stale the token to replace, null when there is none.
 */
export async function renewToken(stale: string | null, tools: RenewalTools): Promise<Renewed> {
  const { tokens, clock, timeoutMs } = tools;
  const holder = clock.id();
  const giveUpAtMs = clock.monotonicMs() + timeoutMs;
  for (;;) {
    const other = await tokens.read();
    if (isNewer(other, stale, clock.nowMs())) return { ok: true, token: other };
    const lockedAtMs = clock.monotonicMs();
    if (await tokens.tryLock(holder, timeoutMs + LOCK_MARGIN_MS)) {
      try {
        return await renewAlone(stale, { ...tools, lockEndsAtMs: lockedAtMs + timeoutMs + LOCK_MARGIN_MS });
      } finally {
        await tokens.unlock(holder).catch(tools.onCacheFailure);
      }
    }
    if (clock.monotonicMs() >= giveUpAtMs) return noToken('token_renewal_stuck');
    await tools.waitMs(POLL_MS * (1 + clock.random()));
  }
}

/** The longest a `Retry-After` of the token call is respected: five minutes once jitter has lengthened it by a quarter. */
const ASKED_WAIT_MAX_MS = 240_000;

/** An outcome of the token call; all sending depends on it, so the service cannot postpone the next one for long. */
export function withBoundedWait(exchange: Exchange, nowMs: number): Exchange {
  if (!('notBeforeMs' in exchange) || exchange.notBeforeMs === null) return exchange;
  return { ...exchange, notBeforeMs: Math.min(exchange.notBeforeMs, nowMs + ASKED_WAIT_MAX_MS) };
}

/** A connection without a token. */
export function noToken(cause: string, notBeforeMs: number | null = null): Renewed & { ok: false } {
  return { ok: false, exchange: { kind: 'connection', cause, notBeforeMs } };
}

/** What a token call that brought no token comes to for those who need one. */
export function noTokenAfter(exchange: Exchange): Renewed & { ok: false } {
  switch (exchange.kind) {
    case 'accepted':
    case 'contract_broken':
    case 'not_the_service':
      return noToken('token_contract_broken');
    case 'refused':
      return noToken(`token_http_${exchange.httpStatus}`, exchange.notBeforeMs);
    case 'surely_not_sent':
    case 'unanswered':
      return noToken(`token_${exchange.cause}`);
    case 'connection':
    case 'dropped':
      return { ok: false, exchange };
  }
}

async function renewAlone(
  stale: string | null,
  tools: RenewalTools & { readonly lockEndsAtMs: number },
): Promise<Renewed> {
  const { tokens, clock } = tools;
  const before = await tokens.read();
  if (isNewer(before, stale, clock.nowMs())) return { ok: true, token: before };
  const fetched = await tools.fetchToken();
  if (!fetched.ok) return fetched;
  try {
    if (clock.monotonicMs() < tools.lockEndsAtMs) await tokens.write(fetched.token);
    else return { ok: true, token: await writeLate(fetched.token, before, tools) };
  } catch (error) {
    // The token is good even if nobody else learns of it.
    tools.onCacheFailure(error);
  }
  return fetched;
}

async function writeLate(mine: StoredToken, before: StoredToken | null, tools: RenewalTools): Promise<StoredToken> {
  const { tokens, clock, timeoutMs } = tools;
  const holder = clock.id();
  if (!(await tokens.tryLock(holder, timeoutMs + LOCK_MARGIN_MS))) return mine;
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
