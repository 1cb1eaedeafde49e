import { invalid, type Decision } from './refusal';

/**
 * Times as the field gives them and the service takes them: ISO 8601 text, kept verbatim when it already is UTC.
 * Milliseconds since the epoch appear only inside functions.
 */

const ISO_8601 = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/;
/** How far ahead of our clock a reported moment may lie; phones drift. */
const FUTURE_TOLERANCE_MS = 2 * 60_000;
/** Asia/Riyadh is UTC+3 all year. */
const RIYADH_OFFSET_MS = 3 * 3_600_000;
const DAY_MS = 86_400_000;

/** Milliseconds since the epoch of an ISO 8601 moment with an offset; null when it is not one or names no real day. */
export function momentMs(text: string): number | null {
  const match = ISO_8601.exec(text);
  if (!match) return null;
  const day = match[1] ?? '';
  const midnightMs = Date.parse(`${day}T00:00:00Z`);
  // Date.parse rolls 30 February over to March; a day that does not survive the round trip does not exist.
  if (Number.isNaN(midnightMs) || new Date(midnightMs).toISOString().slice(0, 10) !== day) return null;
  const ms = Date.parse(text.replace(',', '.').replace(/([+-]\d{2})(\d{2})$/, '$1:$2'));
  return Number.isNaN(ms) ? null : ms;
}

/**
 * The moment of a fact as it will be sent. Text that already is UTC stays as written; another offset becomes `Z`; absent
 * means now, or the previous fact's moment where that lies ahead of our clock.
 * Refused: not ISO 8601 with an offset, more than 2 minutes ahead, or before `previous`.
 */
export function occurredAt(
  given: string | undefined,
  previous: string | null,
  nowMs: number,
): Decision<{ moment: string }> {
  const previousMs = previous === null ? null : momentMs(previous);
  if (given === undefined) {
    return { ok: true, moment: new Date(Math.max(nowMs, previousMs ?? nowMs)).toISOString() };
  }
  const text = given.trim();
  const ms = momentMs(text);
  if (ms === null)
    return invalid([{ field: 'occurred_at', rule: 'must be an ISO 8601 date and time with Z or an offset' }]);
  if (ms > nowMs + FUTURE_TOLERANCE_MS)
    return invalid([{ field: 'occurred_at', rule: 'must not be more than 2 minutes in the future' }]);
  if (previousMs !== null && ms < previousMs)
    return invalid([{ field: 'occurred_at', rule: `must not be before the previous fact (${previous})` }]);
  return { ok: true, moment: text.endsWith('Z') ? text : new Date(ms).toISOString() };
}

/** Whole Asia/Riyadh calendar days from one moment to another; negative when `to` is on an earlier day. */
export function riyadhDaysBetween(fromMs: number, toMs: number): number {
  const day = (ms: number) => Math.floor((ms + RIYADH_OFFSET_MS) / DAY_MS);
  return day(toMs) - day(fromMs);
}

/** The day in Asia/Riyadh of a moment in ms since the epoch, YYYY-MM-DD. */
export function riyadhDate(ms: number): string {
  return new Date(ms + RIYADH_OFFSET_MS).toISOString().slice(0, 10);
}
