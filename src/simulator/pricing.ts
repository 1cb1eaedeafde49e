/** The prices of the simulated service. Amounts are SAR with two decimals, computed in integer halalas. */

const TOWING_NET_HALALAS = 300_00;
const DELAY_NET_HALALAS_PER_DAY = 50_00;
const VAT_PERCENT = 15;
/** A Saudi VAT number has 15 digits, the first and last a 3. */
const VAT_NUMBER = '300000000000003';

/** An invoice object as the webhook carries it (docs/service-api.md#invoices). */
export interface Charge {
  readonly invoice_number: string;
  readonly vat_number: string;
  readonly total_amount: number;
  readonly paid_amount: number;
  readonly tax: number;
}

/** The two charges of one created invoice. */
export interface Invoice {
  readonly towing_invoice: Charge;
  readonly delay_invoice: Charge;
}

/** Prices a tow with this many days of delay; `newNumber` numbers each charge. */
export function priceInvoice(delayDays: number, newNumber: () => string): Invoice {
  return {
    towing_invoice: charge(TOWING_NET_HALALAS, newNumber()),
    delay_invoice: charge(DELAY_NET_HALALAS_PER_DAY * delayDays, newNumber()),
  };
}

/** The invoice with everything paid. */
export function paidInvoice(invoice: Invoice): Invoice {
  const paid = (unpaid: Charge): Charge => ({ ...unpaid, paid_amount: unpaid.total_amount });
  return { towing_invoice: paid(invoice.towing_invoice), delay_invoice: paid(invoice.delay_invoice) };
}

function charge(netHalalas: number, invoiceNumber: string): Charge {
  const taxHalalas = Math.round((netHalalas * VAT_PERCENT) / 100);
  return {
    invoice_number: invoiceNumber,
    vat_number: VAT_NUMBER,
    total_amount: (netHalalas + taxHalalas) / 100,
    paid_amount: 0,
    tax: taxHalalas / 100,
  };
}
