/** Waiting times between attempts: pure arithmetic, no clock and no randomness of its own. */

export interface RetrySettings {
  readonly retryBaseMs: number;
  readonly retryCapMs: number;
}

const SECONDS = /^\d+(\.\d+)?$/;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
/** A longer wait than anybody means; what a report waits is bounded by its being given up long before. */
const RETRY_AFTER_MAX_MS = 30 * 86_400_000;
/** A limit per minute that is reset later than this is in another unit, or nonsense. */
const RESET_MAX_MS = 86_400_000;

/** How much a full jitter lengthens a delay; it never shortens one. */
const JITTER_SHARE = 0.25;

/** The delay after the given number of earlier failures without jitter: doubling from the base up to the cap. */
export function backoffWithoutJitterMs(failures: number, settings: RetrySettings): number {
  return Math.min(settings.retryCapMs, settings.retryBaseMs * 2 ** Math.min(failures, 30));
}

/**
 * The delay before the next attempt: exponential, capped, jittered upwards, and never earlier than the service asked.
 * @param jitter 0 to 1.
 */
export function backoffMs(
  facts: { failures: number; notBeforeMs: number | null; nowMs: number; jitter: number },
  settings: RetrySettings,
): number {
  const floorMs = Math.max(
    backoffWithoutJitterMs(facts.failures, settings),
    askedWaitMs(facts.notBeforeMs, facts.nowMs),
  );
  return Math.ceil(floorMs * (1 + JITTER_SHARE * facts.jitter));
}

/** How long the service asked us to wait from now; 0 when it asked for nothing or the moment has passed. */
export function askedWaitMs(notBeforeMs: number | null, nowMs: number): number {
  return notBeforeMs === null ? 0 : Math.max(0, notBeforeMs - nowMs);
}

/**
 * The earliest moment the service wants the next call, from its `Retry-After` (seconds or HTTP date) or, on a 429 without
 * it, `X-RateLimit-Reset` (UNIX seconds). Null when neither can be read; a longer wait than 30 days is cut to that.
 */
export function notBeforeMs(
  headers: { retryAfter: string | undefined; rateLimitReset: string | undefined },
  nowMs: number,
): number | null {
  const retryAfter = headers.retryAfter?.trim();
  const latestMs = nowMs + RETRY_AFTER_MAX_MS;
  if (retryAfter !== undefined && retryAfter !== '') {
    if (SECONDS.test(retryAfter)) return Math.min(latestMs, nowMs + Math.ceil(Number(retryAfter) * 1000));
    if (HTTP_DATE.test(retryAfter) && !Number.isNaN(Date.parse(retryAfter))) {
      return Math.min(latestMs, Date.parse(retryAfter));
    }
  }
  const reset = headers.rateLimitReset?.trim();
  if (reset === undefined || !SECONDS.test(reset)) return null;
  const resetMs = Math.ceil(Number(reset) * 1000);
  return resetMs <= nowMs + RESET_MAX_MS ? resetMs : null;
}
