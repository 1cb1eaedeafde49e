import { invalid, type Decision } from './refusal';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** Asia/Riyadh is UTC+3 all year. */
export const RIYADH_OFFSET_MS = 3 * HOUR_MS;

/** A time as ISO 8601 in UTC, with milliseconds. */
export function isoTimestamp(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** Like isoTimestamp; null for null. */
export function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : isoTimestamp(atMs);
}

const ISO_8601 = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/;
/** Tolerance for reported times in the future: the clocks of phones drift. */
export const FUTURE_TOLERANCE_MS = 2 * MINUTE_MS;
/** An earlier time has a wrong year, and would make an invoice of thousands of days. */
const EARLIEST_MS = Date.parse('2000-01-01T00:00:00Z');

/** The ms since the epoch of an ISO 8601 timestamp with an offset; null when it is invalid or names no real day. */
export function timestampMs(text: string): number | null {
  const match = ISO_8601.exec(text);
  if (!match) return null;
  const day = match[1] ?? '';
  const midnightMs = Date.parse(`${day}T00:00:00Z`);
  // Date.parse turns 30 February into March, so the day is compared after a round trip.
  if (Number.isNaN(midnightMs) || new Date(midnightMs).toISOString().slice(0, 10) !== day) return null;
  const ms = Date.parse(withColon(text));
  return Number.isNaN(ms) ? null : ms;
}

function withColon(timestamp: string): string {
  return timestamp.replace(',', '.').replace(/([+-]\d{2})(\d{2})$/, '$1:$2');
}

/**
 * Returns a timestamp with an offset as RFC 3339 writes it: with seconds, a point before the fraction and a colon in the
 * offset. Any other text stays.
 */
export function asRfc3339(text: string): string {
  return timestampMs(text) === null ? text : withColon(text).replace(/(T\d{2}:\d{2})(?=[Z+-])/, '$1:00');
}

/** True for a time with Z or an offset from UTC. Another one is ambiguous. */
export function hasOffset(time: string): boolean {
  return /(Z|[+-]\d{2}:?\d{2})$/i.test(time);
}

/**
 * Returns the timestamp of a fact as it will be sent. UTC text stays verbatim; another offset becomes `Z`, with the
 * given fraction. Without `given`: now, or `previous` if that is later. What towhook makes has whole seconds: the document shows no fractions,
 * and a service may refuse them. It is never rounded up, because the next fact may follow within the same second.
 * Refuses text that is not ISO 8601 with an offset, before the year 2000, more than 2 minutes ahead, or before `previous`.
 */
export function occurredAt(
  given: string | undefined,
  previous: string | null,
  nowMs: number,
): Decision<{ timestamp: string }> {
  const previousMs = previous === null ? null : timestampMs(previous);
  if (given === undefined) return { ok: true, timestamp: wholeSeconds(nowMs, previous) };
  const text = given.trim();
  const ms = timestampMs(text);
  if (ms === null)
    return invalid([{ field: 'occurred_at', rule: 'must be an ISO 8601 date and time with Z or an offset' }]);
  if (ms < EARLIEST_MS) return invalid([{ field: 'occurred_at', rule: 'must not be before the year 2000' }]);
  if (ms > nowMs + FUTURE_TOLERANCE_MS)
    return invalid([{ field: 'occurred_at', rule: 'must not be more than 2 minutes in the future' }]);
  if (previousMs !== null && ms < previousMs)
    return invalid([{ field: 'occurred_at', rule: `must not be before the previous fact (${previous})` }]);
  return { ok: true, timestamp: text.endsWith('Z') ? text : withoutZeros(isoTimestamp(ms)) };
}

/** The last whole second as `2026-11-21T12:00:00Z`; `previous` when that is later. */
function wholeSeconds(atMs: number, previous: string | null): string {
  const secondMs = Math.floor(atMs / 1000) * 1000;
  if (previous !== null && (timestampMs(previous) ?? -Infinity) > secondMs) return previous;
  return withoutZeros(isoTimestamp(secondMs));
}

function withoutZeros(timestamp: string): string {
  return timestamp.replace('.000Z', 'Z');
}

/** Calendar days in Asia/Riyadh between two times; negative when `to` is on an earlier day. */
export function riyadhDaysBetween(fromMs: number, toMs: number): number {
  const day = (ms: number) => Math.floor((ms + RIYADH_OFFSET_MS) / DAY_MS);
  return day(toMs) - day(fromMs);
}

/** The date in Asia/Riyadh, YYYY-MM-DD. */
export function riyadhDate(ms: number): string {
  return new Date(ms + RIYADH_OFFSET_MS).toISOString().slice(0, 10);
}
