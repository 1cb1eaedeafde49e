import { z } from 'zod';
import { amount, newTowingReference, newViolationReference, echoedMetadata } from '../common';

/** The two webhooks of the service (docs/service-api.md#webhooks). Unknown fields are stored and ignored. */

/** `POST {operator_base_url}/tow-request`. */
export const towRequestWebhook = z.looseObject({
  violation_reference_id: newViolationReference,
  towing_reference_id: newTowingReference,
  metadata: echoedMetadata.nullish(),
});

const chargeAmounts = { total_amount: amount.nullish(), paid_amount: amount.nullish(), tax: amount.nullish() };
/** The fields of a charge that are amounts. */
export const CHARGE_AMOUNTS: readonly string[] = Object.keys(chargeAmounts);

/** Documented as text. Any other value is accepted too, so that no invoice is refused for its number. */
const chargeNumber = z.union([z.string(), z.number(), z.unknown()]).nullish();

/** One charge of an invoice. Only the amounts are checked, for their type and not their presence. */
export const invoiceCharge = z.looseObject({
  invoice_number: chargeNumber,
  vat_number: chargeNumber,
  ...chargeAmounts,
});

/** `POST {operator_base_url}/tow/invoice`. */
export const towInvoiceWebhook = z.looseObject({
  violation_reference_id: newViolationReference,
  towing_reference_id: newTowingReference,
  towing_invoice: invoiceCharge,
  delay_invoice: invoiceCharge.nullish(),
  metadata: echoedMetadata.nullish(),
});

/** Without unknown fields: copying those of a body that has 78,000 of them takes 40 ms. */
const usableRequest = towRequestWebhook.strip();

/** An invoice that can be acted on: its towing reference alone names the tow. */
const usableInvoice = towInvoiceWebhook.extend({ violation_reference_id: newViolationReference.nullish() }).strip();

/**
 * Each kind of webhook: its path below the operator's base address, the documented body, and the message that can be
 * acted on (read-webhook.ts).
 */
export const WEBHOOKS = {
  tow_request: { path: '/tow-request', body: towRequestWebhook, message: usableRequest },
  tow_invoice: { path: '/tow/invoice', body: towInvoiceWebhook, message: usableInvoice },
} as const;
