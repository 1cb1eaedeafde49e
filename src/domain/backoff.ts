/** Waiting times between attempts: pure arithmetic, no clock and no randomness of its own. */

export interface RetrySettings {
  readonly retryBaseMs: number;
  readonly retryCapMs: number;
}

const SECONDS = /^\d+(\.\d+)?$/;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
/** A longer wait is a mistake. */
const RETRY_AFTER_MAX_MS = 30 * 86_400_000;
/** The longest the service can make a call wait without one look: what it asked for may be over long before. */
export const ASKED_WAIT_MAX_MS = 3_600_000;
/** A limit per minute that is reset later than this is in another unit, or nonsense. */
const RESET_MAX_MS = 86_400_000;
/** As UNIX seconds that is the year 2001; less is a time from now. */
const UNIX_SECONDS_MIN = 1_000_000_000;

/** How much a full jitter lengthens a delay; it never shortens one. */
const JITTER_SHARE = 0.25;

/** The delay after the given number of earlier failures without jitter: doubling from the base up to the cap. */
export function backoffWithoutJitterMs(failures: number, settings: RetrySettings): number {
  return Math.min(settings.retryCapMs, settings.retryBaseMs * 2 ** Math.min(failures, 30));
}

/**
 * The delay before the next attempt: exponential, capped, jittered upwards, and not earlier than the service asked, but for
 * that at most an hour.
 * @param jitter 0 to 1.
 */
export function backoffMs(
  facts: { failures: number; notBeforeMs: number | null; nowMs: number; jitter: number },
  settings: RetrySettings,
): number {
  const jittered = (delayMs: number) => Math.ceil(delayMs * (1 + JITTER_SHARE * facts.jitter));
  const askedMs = Math.min(jittered(askedWaitMs(facts.notBeforeMs, facts.nowMs)), ASKED_WAIT_MAX_MS);
  return Math.max(jittered(backoffWithoutJitterMs(facts.failures, settings)), askedMs);
}

/** How long the service asked us to wait from now, an hour at most; 0 when it asked for nothing or the moment has passed. */
export function askedWaitMs(notBeforeMs: number | null, nowMs: number): number {
  return notBeforeMs === null ? 0 : Math.min(ASKED_WAIT_MAX_MS, Math.max(0, notBeforeMs - nowMs));
}

/**
 * The earliest moment the service wants the next call: the later of its `Retry-After` (seconds or HTTP date) and, on a
 * 429, its `X-RateLimit-Reset` (UNIX seconds, seconds from now or HTTP date). Null when neither can be read; a longer wait
 * than 30 days is cut to that.
 */
export function notBeforeMs(
  headers: { retryAfter: string | undefined; rateLimitReset: string | undefined },
  nowMs: number,
): number | null {
  const moments = [retryAfterMs(headers.retryAfter, nowMs), resetMs(headers.rateLimitReset, nowMs)];
  const known = moments.filter((moment) => moment !== null);
  return known.length > 0 ? Math.max(...known) : null;
}

function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? '';
  const moment = SECONDS.test(text) ? nowMs + Math.ceil(Number(text) * 1000) : httpDateMs(text);
  return moment === null ? null : Math.min(nowMs + RETRY_AFTER_MAX_MS, moment);
}

/** UNIX seconds, seconds from now, or an HTTP date: services mean any of the three. */
function resetMs(header: string | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? '';
  const seconds = SECONDS.test(text) ? Number(text) : null;
  const fromMs = seconds !== null && seconds < UNIX_SECONDS_MIN ? nowMs : 0;
  const moment = seconds === null ? httpDateMs(text) : fromMs + Math.ceil(seconds * 1000);
  return moment !== null && moment <= nowMs + RESET_MAX_MS ? moment : null;
}

function httpDateMs(text: string): number | null {
  return HTTP_DATE.test(text) && !Number.isNaN(Date.parse(text)) ? Date.parse(text) : null;
}
