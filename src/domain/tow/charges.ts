import type { Json, JsonObject } from '../vocabulary';

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
 * The names of the amounts that differ by more than a halala between two versions of an invoice, such as answer and
 * webhook. An amount that one of them does not have is no difference; neither is a higher paid amount in the second one
 * after a payment was recorded.
 */
export function reconcile(one: Charges, other: Charges, payments: readonly unknown[] = []): string[] {
  const paid = payments.length > 0 ? lessPaid(one, other) : amountsWhere(one, other, ['paid_amount'], isApart);
  return [...amountsWhere(one, other, ['total_amount', 'tax'], isApart), ...paid];
}

/** The names of the paid amounts that are lower in the later one of two versions of an invoice. */
export function lessPaid(earlier: Charges, later: Charges): string[] {
  return amountsWhere(earlier, later, ['paid_amount'], (before, after) => before - after > TOLERANCE_HALALAS);
}

const isApart = (one: number, other: number) => Math.abs(one - other) > TOLERANCE_HALALAS;

function amountsWhere(
  one: Charges,
  other: Charges,
  amounts: readonly string[],
  differs: (one: number, other: number) => boolean,
): string[] {
  const charges = [
    ['towing_invoice', one.towingInvoice, other.towingInvoice],
    ['delay_invoice', one.delayInvoice, other.delayInvoice],
  ] as const;
  return charges.flatMap(([name, left, right]) =>
    amounts.flatMap((amount) => {
      const [a, b] = [halalas(left?.[amount]), halalas(right?.[amount])];
      return a !== null && b !== null && differs(a, b) ? [`${name}.${amount}`] : [];
    }),
  );
}

function objectIn(value: JsonObject | null, name: string): JsonObject | null {
  const found = value?.[name];
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? found : null;
}
