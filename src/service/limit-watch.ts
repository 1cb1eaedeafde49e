import type { IncomingHttpHeaders } from 'node:http';
import { BUDGET_NAMES, type BudgetName } from '../contracts/service/operations';
import { askedWaitMs } from '../domain/outbox/backoff';
import {
  learnWindow,
  NOTHING_LEARNED,
  perMinuteWith,
  readLimitHeaders,
  type AnnouncedLimit,
  type LearnedWindow,
  type LimitHeaders,
} from '../domain/service/limit-headers';
import type { Exchange } from '../domain/service/policy';
import type { Clock } from '../platform/clock';
import { errorName } from '../platform/errors';
import type { Log } from '../platform/log/log';
import type { Metrics } from '../platform/log/metrics';
import type { Budgets, ObservedLimit } from '../workflow/service/service-port';
import type { HttpAnswer } from './attempt';
import { TOKEN_WAIT_MAX_MS } from './token-renewal';

/** The names of the three headers by their prefix: the usual one, the one of the IETF drafts, and a spelling that is seen. */
const HEADERS = ['x-ratelimit', 'ratelimit', 'x-rate-limit'].map((prefix) => ({
  limit: `${prefix}-limit`,
  remaining: `${prefix}-remaining`,
  reset: `${prefix}-reset`,
}));
/** An unchanged limit is announced to the other processes again after this time, well before they stop following it. */
const RENEWED_AFTER_MS = 240_000;

export interface LimitWatchTools {
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Pick<Metrics, 'callThrottled' | 'limitHeadersIgnored'> | undefined;
  /** False: announced limits are ignored. A 429 always closes its budget. */
  readonly followsHeaders: boolean;
}

/**
 * Reads what answers show about rate limits, and stores it for all processes when it is new. Returns a function to call
 * with each answer and its exchange; it returns the exchange, of a 429 with the time until which the budget is closed.
 * Never rejects.
 */
export function createLimitWatch({ budgets, clock, log, metrics, followsHeaders }: LimitWatchTools) {
  for (const name of BUDGET_NAMES) metrics?.callThrottled(name, 0);
  /** The limits that this process stored last. */
  const stored = new Map<BudgetName, { readonly perMinute: number; readonly atMs: number }>();

  const windows = new Map<BudgetName, LearnedWindow>();

  function announcedIn(budget: BudgetName, headers: IncomingHttpHeaders, isRefusal: boolean): AnnouncedLimit | null {
    const limitHeaders = followsHeaders ? limitHeadersOf(headers) : null;
    if (limitHeaders === null) return null;
    const nowMs = clock.nowMs();
    const announced = readLimitHeaders(limitHeaders, { nowMs, date: headers.date });
    if (announced.isInvalid) metrics?.limitHeadersIgnored(budget);
    const learned = learnWindow(windows.get(budget) ?? NOTHING_LEARNED, announced, { isRefusal, nowMs });
    windows.set(budget, learned);
    return { ...announced, perMinute: perMinuteWith(learned, announced) };
  }

  function isNew(budget: BudgetName, { perMinute }: AnnouncedLimit): boolean {
    const known = stored.get(budget);
    const isKnown = known?.perMinute === perMinute && clock.monotonicMs() - known.atMs < RENEWED_AFTER_MS;
    return perMinute !== null && !isKnown;
  }

  async function store(budget: BudgetName, seen: ObservedLimit): Promise<number | null> {
    try {
      const { closedForMs } = await budgets.observe(budget, seen);
      if (seen.perMinute !== null) stored.set(budget, { perMinute: seen.perMinute, atMs: clock.monotonicMs() });
      return closedForMs;
    } catch (error) {
      log.warn('limit.not_stored', { budget, error_name: errorName(error) });
      return null;
    }
  }

  return async function observed(budget: BudgetName, answer: HttpAnswer, exchange: Exchange): Promise<Exchange> {
    const refusal = exchange.kind === 'refused' && exchange.httpStatus === 429 ? exchange : null;
    const announced = announcedIn(budget, answer.headers, refusal !== null);
    if (refusal) metrics?.callThrottled(budget);
    const nowMs = clock.nowMs();
    const resetAtMs = announced?.resetAtMs ?? null;
    // All sending depends on the token, so the reset of its calls is as bounded as the wait that a 429 asks for.
    const resetMaxMs = budget === 'auth' ? TOKEN_WAIT_MAX_MS : Infinity;
    const resetInMs = resetAtMs === null ? null : Math.min(resetMaxMs, Math.max(0, resetAtMs - nowMs));
    const isSpent = announced?.remaining === 0 && resetInMs !== null && resetInMs > 0;
    if (!refusal && !isSpent && !(announced && isNew(budget, announced))) return exchange;
    const askedMs = refusal === null || refusal.notBeforeMs === null ? null : askedWaitMs(refusal.notBeforeMs, nowMs);
    const closedForMs = await store(budget, {
      isRefusal: refusal !== null,
      // A time that has passed is no wait.
      askedMs: askedMs === 0 ? null : askedMs,
      perMinute: announced?.perMinute ?? null,
      remaining: announced?.remaining ?? null,
      resetInMs,
    });
    if (refusal === null || !closedForMs) return exchange;
    return { ...refusal, notBeforeMs: Math.max(refusal.notBeforeMs ?? 0, clock.nowMs() + closedForMs) };
  };
}

/** The first set of rate limit headers of an answer; null without any. */
function limitHeadersOf(headers: IncomingHttpHeaders): LimitHeaders | null {
  const valueOf = (name: string) => {
    const value = headers[name];
    return typeof value === 'string' ? value : value?.[0];
  };
  const names = HEADERS.find(({ limit, remaining }) => headers[limit] ?? headers[remaining]);
  if (names === undefined) return null;
  return { limit: valueOf(names.limit), remaining: valueOf(names.remaining), reset: valueOf(names.reset) };
}
