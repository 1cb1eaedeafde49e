import { DAY_MS, HOUR_MS, MINUTE_MS } from '../timestamp';

/** The rule of the alarm that no webhook arrives any more although they usually do. */

/** The accepted webhooks of the last days. */
export interface AcceptedHistory {
  readonly lastAcceptedAtMs: number | null;
  /** For each hour since the epoch, the number of minutes in which a webhook was accepted. Hours without one are absent. */
  readonly minutesOfHour: ReadonlyMap<number, number>;
}

/** How long no webhook has arrived, while at these hours one usually arrives every `usualMs`. */
export interface WebhookSilence {
  readonly sinceMs: number;
  readonly usualMs: number;
}

/** Earlier days that are compared. */
const COMPARED_DAYS = 7;
/** The compared days, and the day of the silence itself. */
const KEPT_HOURS = (COMPARED_DAYS + 2) * 24;
/** From this many known days on, the quietest is left out: it may be a day on which something was broken. */
const DAYS_TO_DROP_ONE = 4;

/**
 * Whether no webhook has arrived for this many usual intervals; null if not, without a whole day of history, and for 0.
 *
 * The usual interval is that of the same hours on earlier days, so a quiet night raises no alarm. The quietest of the
 * last seven days counts, from four known days on the second quietest, so a weekend raises none either. Several calls
 * within a minute count as one. A silence is compared over its first day at most.
 */
export function webhookSilence(history: AcceptedHistory, intervals: number, nowMs: number): WebhookSilence | null {
  const { lastAcceptedAtMs, minutesOfHour } = history;
  if (intervals === 0 || lastAcceptedAtMs === null) return null;
  const silenceMs = Math.min(nowMs - lastAcceptedAtMs, DAY_MS);
  const firstMs = Math.min(...minutesOfHour.keys()) * HOUR_MS;
  const days = Array.from({ length: COMPARED_DAYS }, (_, day) => lastAcceptedAtMs - (day + 1) * DAY_MS);
  const usual = days
    .filter((fromMs) => fromMs >= firstMs)
    .map((fromMs) => minutesBetween(minutesOfHour, fromMs, fromMs + silenceMs))
    .toSorted((one, other) => one - other);
  const expected = usual[usual.length >= DAYS_TO_DROP_ONE ? 1 : 0] ?? 0;
  return expected >= intervals ? { sinceMs: lastAcceptedAtMs, usualMs: Math.round(silenceMs / expected) } : null;
}

/**
 * The minute since the epoch of a webhook that is accepted now; null if it is counted, as several of one minute count
 * once. Near its end, another process may have counted the next one.
 */
export function minuteToCount(counted: number | null, nowMs: number): number | null {
  const minute = Math.floor(nowMs / MINUTE_MS);
  return counted === minute || counted === minute + 1 ? null : minute;
}

/** Those of these hours since the epoch that are too old to be compared. */
export function outdatedHours(hours: readonly number[], nowMs: number): number[] {
  const oldest = Math.floor(nowMs / HOUR_MS) - KEPT_HOURS;
  return hours.filter((hour) => hour <= oldest);
}

/** The minutes with an accepted webhook between two times, as if those of an hour were spread evenly over it. */
function minutesBetween(minutesOfHour: AcceptedHistory['minutesOfHour'], fromMs: number, toMs: number): number {
  let minutes = 0;
  for (let hour = Math.floor(fromMs / HOUR_MS); hour * HOUR_MS < toMs; hour += 1) {
    const shareMs = Math.min(toMs, (hour + 1) * HOUR_MS) - Math.max(fromMs, hour * HOUR_MS);
    minutes += (minutesOfHour.get(hour) ?? 0) * (shareMs / HOUR_MS);
  }
  return minutes;
}
