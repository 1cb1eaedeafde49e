import { DAY_MS, HOUR_MS } from '../timestamp';

/** Delays between attempts. Pure arithmetic without clock or randomness. */

export interface RetrySettings {
  readonly retryBaseMs: number;
  readonly retryCapMs: number;
}

const SECONDS = /^\d+(\.\d+)?$/;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const ISO_DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
/** A longer `Retry-After` is a mistake. */
const RETRY_AFTER_MAX_MS = 30 * DAY_MS;
/** The longest wait that the service can impose on a call: its cause may be over long before a later time. */
export const ASKED_WAIT_MAX_MS = HOUR_MS;
/**
 * The longest wait that is believed: the longest backoff or requested wait with its jitter. A later time was stored by a
 * clock that jumped, and what waits for it is due.
 */
export const WAIT_MAX_MS = HOUR_MS * 1.25;
/** A per-minute limit that resets later than this is in another unit, or invalid. */
const RESET_MAX_MS = DAY_MS;
/** Smaller numbers are seconds from now, larger ones UNIX seconds (this one is in 2001). */
const UNIX_SECONDS_MIN = 1_000_000_000;
/** Larger numbers are UNIX milliseconds (this one is in 1973, and in seconds in the year 5138). */
const UNIX_MS_MIN = 100_000_000_000;

/** Clocks that are less apart agree: `Date` is cut to seconds, and the answer was under way. */
const AGREEMENT_MS = 2000;

/** Full jitter lengthens a delay by this share. Jitter never shortens a delay. */
const JITTER_SHARE = 0.25;

/** The delay after this number of earlier failures, without jitter: doubles from the base up to the cap. */
export function backoffWithoutJitterMs(failures: number, settings: RetrySettings): number {
  return Math.min(settings.retryCapMs, settings.retryBaseMs * 2 ** Math.min(failures, 30));
}

/**
 * The delay before the next attempt, ms: exponential, capped, with jitter added. The wait that the service requested
 * is honored up to one hour.
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

/**
 * The remaining wait that the service requested, ms, at most one hour; 0 when it requested none or the time has
 * passed.
 */
export function askedWaitMs(notBeforeMs: number | null, nowMs: number): number {
  return notBeforeMs === null ? 0 : Math.min(ASKED_WAIT_MAX_MS, Math.max(0, notBeforeMs - nowMs));
}

/** When an answer came, by our clock in ms since the epoch, and its header `Date`: the clock of the service. */
export interface AnswerTime {
  readonly nowMs: number;
  readonly date?: string | undefined;
}

/**
 * The earliest time for the next call, ms since the epoch: the later of `Retry-After` and, on a 429,
 * `X-RateLimit-Reset`. Null when neither is readable. At most 30 days ahead.
 */
export function notBeforeMs(
  headers: { retryAfter: string | undefined; rateLimitReset: string | undefined },
  at: AnswerTime,
): number | null {
  const retryAfter = headerTimeMs(headers.retryAfter, at);
  const times = [
    retryAfter === null ? null : Math.min(at.nowMs + RETRY_AFTER_MAX_MS, retryAfter),
    limitResetMs(headers.rateLimitReset, at),
  ];
  const known = times.filter((timeMs) => timeMs !== null);
  return known.length > 0 ? Math.max(...known) : null;
}

/** The time of `X-RateLimit-Reset`, ms since the epoch; null when it is not readable, or more than a day ahead. */
export function limitResetMs(header: string | undefined, at: AnswerTime): number | null {
  const timeMs = headerTimeMs(header, at);
  return timeMs !== null && timeMs <= at.nowMs + RESET_MAX_MS ? timeMs : null;
}

/**
 * Reads a time in any form that services use: seconds from now, UNIX seconds or milliseconds, an HTTP or ISO 8601 date.
 * All but the first are by the clock of the service.
 */
function headerTimeMs(header: string | undefined, at: AnswerTime): number | null {
  const text = header?.trim() ?? '';
  const value = SECONDS.test(text) ? Number(text) : null;
  if (value !== null && value < UNIX_SECONDS_MIN) return at.nowMs + Math.ceil(value * 1000);
  const timeMs = value === null ? dateMs(text) : Math.ceil(value >= UNIX_MS_MIN ? value : value * 1000);
  return timeMs === null ? null : timeMs + aheadMs(at);
}

/** How far our clock is ahead of that of the service; 0 when they agree, or `Date` is not readable. */
function aheadMs({ nowMs, date }: AnswerTime): number {
  const serviceMs = dateMs(date ?? '');
  const apartMs = serviceMs === null ? 0 : nowMs - serviceMs;
  return Math.abs(apartMs) < AGREEMENT_MS ? 0 : apartMs;
}

function dateMs(text: string): number | null {
  const isDate = HTTP_DATE.test(text) || ISO_DATE.test(text);
  return isDate && !Number.isNaN(Date.parse(text)) ? Date.parse(text) : null;
}
