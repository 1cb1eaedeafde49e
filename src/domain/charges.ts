import { timestampMs, riyadhDaysBetween } from './timestamp';
import type { Tow } from './tow';
import type { Json, JsonObject } from './vocabulary';

/**
 * Amounts and days of a tow invoice. Amounts are compared as integer halalas (1 SAR = 100 halalas) and passed on as
 * received.
 */

/** The difference of two amounts that is ignored, in halalas. The service rounds in a way that it does not document. */
const TOLERANCE_HALALAS = 1;

/** Integer halalas of a number or numeric text in SAR; null when it is neither. */
export function halalas(amount: Json | undefined): number | null {
  const isText = typeof amount === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(amount);
  if (typeof amount !== 'number' && !isText) return null;
  const value = Math.round(Number(amount) * 100);
  return Number.isSafeInteger(value) ? value : null;
}

/** The days of delay to invoice, and how they are computed. */
export interface Delay {
  readonly days: number;
  /** When the vehicle was detained; null if it was not. */
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
  const detainedMs = detainedAt === null ? null : timestampMs(detainedAt);
  if (detainedMs === null) return { days: 0, detainedAt: null, daysCounted: 0, freeDays };
  const daysCounted = Math.max(0, riyadhDaysBetween(detainedMs, nowMs));
  return { days: Math.max(0, daysCounted - freeDays), detainedAt, daysCounted, freeDays };
}

/** The charges of one invoice, from the answer to the request or from a webhook. */
export interface Charges {
  readonly towingInvoice: JsonObject;
  readonly delayInvoice: JsonObject | null;
}

/**
 * The names of the amounts of one invoice that differ by more than a halala between answer and webhook. `paid_amount`
 * is not compared: it changes with the payment. An amount that one side does not have is no difference.
 */
export function reconcile(answer: Charges, webhook: Charges): string[] {
  return [
    ...compare('towing_invoice', answer.towingInvoice, webhook.towingInvoice),
    ...compare('delay_invoice', answer.delayInvoice, webhook.delayInvoice),
  ];
}

function compare(name: string, left: JsonObject | null, right: JsonObject | null): string[] {
  return ['total_amount', 'tax'].flatMap((amount) => {
    const [a, b] = [halalas(left?.[amount]), halalas(right?.[amount])];
    const differs = a !== null && b !== null && Math.abs(a - b) > TOLERANCE_HALALAS;
    return differs ? [`${name}.${amount}`] : [];
  });
}
