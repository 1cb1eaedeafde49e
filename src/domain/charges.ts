import type { Json, JsonObject } from './vocabulary';

/** The amounts of invoices. They are compared as integer halalas (1 SAR = 100 halalas) and passed on as received. */

/** The difference of two amounts that is ignored, in halalas. The service rounds in a way that it does not document. */
const TOLERANCE_HALALAS = 1;

/** Integer halalas of a number or numeric text in SAR; null when it is neither. */
export function halalas(amount: Json | undefined): number | null {
  const isText = typeof amount === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(amount);
  if (typeof amount !== 'number' && !isText) return null;
  const value = Math.round(Number(amount) * 100);
  return Number.isSafeInteger(value) ? value : null;
}

/** The charges of one invoice, from the answer to the request or from a webhook. */
export interface Charges {
  readonly towingInvoice: JsonObject;
  readonly delayInvoice: JsonObject | null;
}

/** The charges in the answer to our invoice request; null when it has none. */
export function answeredCharges(answer: JsonObject | null): Charges | null {
  const towingInvoice = objectIn(answer, 'towing_invoice');
  return towingInvoice && { towingInvoice, delayInvoice: objectIn(answer, 'delay_invoice') };
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

function objectIn(value: JsonObject | null, name: string): JsonObject | null {
  const found = value?.[name];
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? found : null;
}
