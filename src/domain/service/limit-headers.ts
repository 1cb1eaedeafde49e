import { limitResetMs, type AnswerTime } from '../outbox/backoff';

/** The headers with which services announce a rate limit. Pure reading; the stores decide what follows. */

export interface LimitHeaders {
  readonly limit?: string | undefined;
  readonly remaining?: string | undefined;
  readonly reset?: string | undefined;
}

/** A rate limit as an answer announces it; null for a part that is missing or not readable. */
export interface AnnouncedLimit {
  /** Calls per minute. */
  readonly perMinute: number | null;
  /** Calls per window; null when the header also names the window, which `perMinute` takes into account. */
  readonly perWindow: number | null;
  /** Calls that are left until the reset. */
  readonly remaining: number | null;
  /** When the count starts again, ms since the epoch. */
  readonly resetAtMs: number | null;
  /** True when a header is present but makes no sense. It is ignored. */
  readonly isInvalid: boolean;
}

const NOTHING: AnnouncedLimit = {
  perMinute: null,
  perWindow: null,
  remaining: null,
  resetAtMs: null,
  isInvalid: false,
};

/** A count, perhaps followed by what the IETF drafts add: `60, 60;w=60`. */
const COUNT = /^(\d{1,9})\s*(?:[,;].*)?$/;
/** The window of a limit, seconds, as in the IETF drafts. Without it the limit is per minute. */
const WINDOW = /;\s*w=(\d{1,6})\b/;

/** Reads the headers of one answer. */
export function readLimitHeaders({ limit, remaining, reset }: LimitHeaders, at: AnswerTime): AnnouncedLimit {
  if (limit === undefined && remaining === undefined && reset === undefined) return NOTHING;
  const [perMinute, counted, resetAtMs] = [perMinuteOf(limit), countOf(remaining), limitResetMs(reset, at)];
  // Services that have no limit announce one of 0, of which nothing is ever left.
  const left = countOf(limit) === 0 ? null : counted;
  const isInvalid =
    (limit !== undefined && perMinute === null) ||
    (remaining !== undefined && counted === null) ||
    (reset !== undefined && resetAtMs === null);
  const perWindow = perMinute === null || WINDOW.test(limit ?? '') ? null : countOf(limit);
  return { perMinute, perWindow, remaining: left, resetAtMs, isInvalid };
}

/** What a process has learned about the window of a limit whose header does not name it. */
export interface LearnedWindow {
  /** Answers in a row that fit a limit per second, each some time after the one before. */
  readonly samples: number;
  readonly lastAtMs: number;
  /** After a 429 nothing is learned until then. */
  readonly notBeforeMs: number;
}

export const NOTHING_LEARNED: LearnedWindow = { samples: 0, lastAtMs: 0, notBeforeMs: 0 };

const SECOND_MS = 1000;
/** An answer this long after the one before is in another window of a limit per second. */
const APART_MS = 1500;
/** In a window of a minute, this many answers would all have to come in its last second. */
const SAMPLES_MIN = 4;
/** Calls that the window of a sample may have counted: our own, and one more that left with it. */
const USED_MAX = 2;
const UNLEARNED_MS = 600_000;

/** Higher limits are not followed at all. */
const PER_MINUTE_MAX = 10_000;

/** The calls per minute that an answer allows, as far as its window is known. */
export function perMinuteWith({ samples }: LearnedWindow, { perMinute, perWindow }: AnnouncedLimit): number | null {
  return perWindow !== null && samples >= SAMPLES_MIN ? Math.min(PER_MINUTE_MAX, perWindow * 60) : perMinute;
}

/**
 * Learns from one answer. A count that starts again within a second of every answer, and has counted almost nothing of
 * a while ago, is one per second. One longer reset, or a 429, ends that.
 */
export function learnWindow(
  learned: LearnedWindow,
  { perWindow, remaining, resetAtMs }: AnnouncedLimit,
  { isRefusal, nowMs }: { readonly isRefusal: boolean; readonly nowMs: number },
): LearnedWindow {
  if (isRefusal) return { samples: 0, lastAtMs: nowMs, notBeforeMs: nowMs + UNLEARNED_MS };
  if (perWindow === null || remaining === null || resetAtMs === null || nowMs < learned.notBeforeMs) {
    return { ...learned, samples: 0, lastAtMs: nowMs };
  }
  const isShort = resetAtMs >= nowMs && resetAtMs <= nowMs + SECOND_MS;
  if (!isShort) return { ...learned, samples: 0, lastAtMs: nowMs };
  if (nowMs - learned.lastAtMs < APART_MS) return { ...learned, lastAtMs: nowMs };
  const samples = perWindow - remaining <= USED_MAX ? learned.samples + 1 : 0;
  return { ...learned, samples, lastAtMs: nowMs };
}

function countOf(header: string | undefined): number | null {
  const digits = COUNT.exec(header?.trim() ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Null also for 0, which would stop all calls. */
function perMinuteOf(header: string | undefined): number | null {
  const count = countOf(header);
  if (count === null || count === 0) return null;
  const seconds = Number(WINDOW.exec(header ?? '')?.[1] ?? 60);
  return seconds === 0 ? null : Math.max(1, Math.floor((count * 60) / seconds));
}
