import { z } from 'zod';
import { jsonText } from '../../domain/stored';

/**
 * What the service says about one rate limit, as lua/shared/rate-limit.lua keeps it in Redis. Times are Unix ms, Redis
 * time.
 */
const storedBudgetState = z.looseObject({
  /** Calls per minute that the service announced, when, and until when that is followed. */
  limit: z.number().optional(),
  limit_at: z.number().optional(),
  limit_until: z.number().optional(),
  /** No call before this time. */
  closed_until: z.number().optional(),
  /** After a 429: one call tries before the others. */
  needs_trial: z.boolean().optional(),
  tried_at: z.number().optional(),
  /** 429 in a row. */
  strikes: z.number().optional(),
});
export type StoredBudgetState = z.infer<typeof storedBudgetState>;

/** Decodes a stored state. What cannot be read counts as no state, as in the scripts. */
export function decodeBudgetState(json: string | null | undefined): StoredBudgetState {
  return storedText.safeParse(json).data ?? {};
}

const storedText = jsonText(storedBudgetState);

/** How long an announced limit is followed at most: ten windows, each 2 % longer than a minute. */
const FOLLOWED_MAX_MS = 612_000;

/** The limit that the service announced, while it is followed; null without one. A clock that jumped is not believed. */
export function followedLimit(state: StoredBudgetState, nowMs: number): number | null {
  const endsInMs = (state.limit_until ?? nowMs) - nowMs;
  return endsInMs > 0 && endsInMs <= FOLLOWED_MAX_MS ? (state.limit ?? null) : null;
}

/** True when calls need a permit although the budget has no limit of ours. */
export function isRestricted(state: StoredBudgetState, nowMs: number): boolean {
  return state.needs_trial === true || followedLimit(state, nowMs) !== null || (state.closed_until ?? nowMs) > nowMs;
}
