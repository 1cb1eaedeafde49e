import { z } from 'zod';
import { amount, echoedMetadata, newTowingReference, newViolationReference } from '../common';
import { fieldRule } from '../../domain/refusal';
import { REFUSAL_REASONS } from '../../domain/webhook/webhook-answers';
import { pageQuery } from '../paging';

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

/** What a refused call carried, as far as it was read. */
const BODY_KINDS = ['json', 'form', 'markup', 'text', 'binary', 'empty', 'not_read'] as const;

/**
 * A refused call to the receiver: what shows its cause, without a value that it carried. Names of headers and fields, and
 * parts of the path, that do not look like words of a program are `*`.
 */
export const refusedCall = z.object({
  received_at: z.string(),
  path: z.string(),
  /** The address of the sender, or the network of an IPv6 address. */
  source: z.string(),
  reason: z.enum(REFUSAL_REASONS),
  http_status: z.number(),
  /** The rules that the content breaks. */
  details: z.array(fieldRule),
  header_names: z.array(z.string()),
  /** Bytes as received, or as declared if they were not read; null if unknown. */
  size: z.number().nullable(),
  /** SHA-256 of the body; null if it was not read. */
  body_hash: z.string().nullable(),
  body_kind: z.enum(BODY_KINDS),
  /** The fields of a JSON body and the types of their values. */
  fields: z.array(z.object({ field: z.string(), type: z.string() })),
});
export type KeptRefusal = z.infer<typeof refusedCall>;

export const refusedCallsQuery = z.strictObject({ limit: pageQuery.limit });
