import type { BudgetName } from '../../contracts/service/operations';
import type { Clock } from '../../platform/clock';
import type { ActiveProfile, ServiceProfile } from '../profile';

/** What the service counted for one call. */
export interface CountedCall {
  readonly isAllowed: boolean;
  /** The `X-RateLimit-*` headers of its answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Until the window ends. */
  readonly resetInMs: number;
}

interface Window {
  readonly endsAtMs: number;
  calls: number;
}

const WINDOW_MS = 60_000;

/** Counts calls per budget in windows of a minute that begin with their first call. A call over the limit is not counted. */
export class RateLimits {
  readonly #clock: Clock;
  readonly #profile: ActiveProfile;
  readonly #windows = new Map<BudgetName, Window>();

  constructor(clock: Clock, profile: ActiveProfile) {
    this.#clock = clock;
    this.#profile = profile;
  }

  /** Counts a call; null when its budget has no limit. */
  count(budget: BudgetName): CountedCall | null {
    const profile = this.#profile.current;
    const limit = profile.rate_limits[budget];
    if (limit === undefined) return null;
    const nowMs = this.#clock.nowMs();
    const window = this.#windowAt(budget, nowMs);
    const isAllowed = window.calls < limit;
    if (isAllowed) window.calls += 1;
    const remaining = Math.max(0, limit - window.calls);
    const headers = limitHeaders({ limit, remaining, resetAtMs: window.endsAtMs, nowMs }, profile);
    return { isAllowed, headers, resetInMs: window.endsAtMs - nowMs };
  }

  #windowAt(budget: BudgetName, nowMs: number): Window {
    const running = this.#windows.get(budget);
    if (running && nowMs < running.endsAtMs && running.endsAtMs <= nowMs + WINDOW_MS) return running;
    const window = { endsAtMs: nowMs + WINDOW_MS, calls: 0 };
    this.#windows.set(budget, window);
    return window;
  }
}

export interface LimitState {
  /** Calls per window; null: not named. */
  readonly limit: number | null;
  readonly remaining: number;
  readonly resetAtMs: number;
  readonly nowMs: number;
}

/** The `X-RateLimit-*` headers in the form of the profile. */
export function limitHeaders(
  state: LimitState,
  { rate_limit_reset }: Pick<ServiceProfile, 'rate_limit_reset'>,
): Record<string, string> {
  const reset = resetText(state, rate_limit_reset);
  return {
    ...(state.limit === null ? {} : { 'x-ratelimit-limit': String(state.limit) }),
    'x-ratelimit-remaining': String(state.remaining),
    ...(reset === null ? {} : { 'x-ratelimit-reset': reset }),
  };
}

function resetText({ resetAtMs, nowMs }: LimitState, form: ServiceProfile['rate_limit_reset']): string | null {
  switch (form) {
    case 'epoch_seconds':
      return String(Math.ceil(resetAtMs / 1000));
    case 'epoch_ms':
      return String(Math.ceil(resetAtMs));
    case 'seconds':
      return String(Math.ceil((resetAtMs - nowMs) / 1000));
    case 'date':
      return new Date(resetAtMs).toUTCString();
    case 'absent':
      return null;
  }
}

/** The `Retry-After` header in the form of the profile, at least one second. */
export function retryAfterHeader(
  { waitMs, nowMs }: { readonly waitMs: number; readonly nowMs: number },
  { retry_after }: Pick<ServiceProfile, 'retry_after'>,
): Record<string, string> {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  switch (retry_after) {
    case 'seconds':
      return { 'retry-after': String(seconds) };
    case 'date':
      return { 'retry-after': new Date(nowMs + seconds * 1000).toUTCString() };
    case 'nonsense':
      return { 'retry-after': 'soon' };
    case 'absent':
      return {};
  }
}
