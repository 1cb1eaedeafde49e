import { momentMs, riyadhDaysBetween } from './moment';
import type { Tow } from './tow';
import type { Json, JsonObject } from './vocabulary';

/**
 * Money and days of a tow invoice. Amounts are compared as integer halalas (1 SAR = 100 halalas) and always passed on
 * exactly as received.
 */

/** Halalas two readings of one amount may differ by before a person is asked: the service rounds somewhere unseen. */
const TOLERANCE_HALALAS = 1;

/** Integer halalas of a number or numeric text in SAR; null when it is neither. */
export function halalas(amount: Json | undefined): number | null {
  const isText = typeof amount === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(amount);
  if (typeof amount !== 'number' && !isText) return null;
  const value = Math.round(Number(amount) * 100);
  return Number.isSafeInteger(value) ? value : null;
}

/** The days of delay to invoice, and how they come about. */
export interface Delay {
  readonly days: number;
  /** When the vehicle was detained; null when it was not, which leaves nothing to count. */
  readonly detainedAt: string | null;
  /** Calendar days since then. */
  readonly daysCounted: number;
  /** Days that are not charged. */
  readonly freeDays: number;
}

/**
 * The days of delay to invoice: whole Asia/Riyadh calendar days from the detained fact to `nowMs`, less the free days,
 * never below 0; 0 when the vehicle was not detained.
 * Open question Q3: what exactly delay_in_days counts is not documented; storage days in Riyadh is our reading.
 */
export function delayOf(tow: Tow, nowMs: number, freeDays: number): Delay {
  const detainedAt = tow.facts.find((fact) => fact.event === 'detained')?.occurredAt ?? null;
  const detainedMs = detainedAt === null ? null : momentMs(detainedAt);
  if (detainedMs === null) return { days: 0, detainedAt: null, daysCounted: 0, freeDays };
  const daysCounted = Math.max(0, riyadhDaysBetween(detainedMs, nowMs));
  return { days: Math.max(0, daysCounted - freeDays), detainedAt, daysCounted, freeDays };
}

/** The number alone. */
export function delayInDays(tow: Tow, nowMs: number, freeDays: number): number {
  return delayOf(tow, nowMs, freeDays).days;
}

/** The charges of one invoice, as answered to our request or as posted by webhook. */
export interface Charges {
  readonly towingInvoice: JsonObject;
  readonly delayInvoice: JsonObject | null;
}

/** One amount on which the answer and the webhook disagree. */
export interface Mismatch {
  readonly field: string;
}

/**
 * The amounts on which two readings of one invoice differ by more than a halala. `paid_amount` is left out: it changes
 * by itself once the payment is known. An amount that one side does not carry is not a difference.
 */
export function reconcile(answer: Charges, webhook: Charges): Mismatch[] {
  return [
    ...compare('towing_invoice', answer.towingInvoice, webhook.towingInvoice),
    ...compare('delay_invoice', answer.delayInvoice, webhook.delayInvoice),
  ];
}

function compare(name: string, left: JsonObject | null, right: JsonObject | null): Mismatch[] {
  return ['total_amount', 'tax'].flatMap((amount) => {
    const [a, b] = [halalas(left?.[amount]), halalas(right?.[amount])];
    const differs = a !== null && b !== null && Math.abs(a - b) > TOLERANCE_HALALAS;
    return differs ? [{ field: `${name}.${amount}` }] : [];
  });
}
