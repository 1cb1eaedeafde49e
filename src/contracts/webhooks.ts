import { z } from 'zod';
import {
  amount,
  newTowingReference,
  newViolationReference,
  towingReference,
  violationReference,
  echoedMetadata,
} from './common';

/** The two calls the service makes to the operator (service-api 6). Unknown fields are kept and ignored. */

/** `POST {operator_base_url}/tow-request`. */
export const towRequestWebhook = z.looseObject({
  violation_reference_id: newViolationReference,
  towing_reference_id: newTowingReference,
  metadata: echoedMetadata.nullish(),
});

/** One charge of an invoice. Of the documented fields only the amounts are relied on: for their type, not their presence. */
export const invoiceCharge = z.looseObject({
  total_amount: amount.nullish(),
  paid_amount: amount.nullish(),
  tax: amount.nullish(),
});

/** `POST {operator_base_url}/tow/invoice`. */
export const towInvoiceWebhook = z.looseObject({
  violation_reference_id: newViolationReference,
  towing_reference_id: newTowingReference,
  towing_invoice: invoiceCharge,
  delay_invoice: invoiceCharge.nullish(),
  metadata: echoedMetadata.nullish(),
});

/** The bodies of stored deliveries. Earlier versions took in references that are refused today. */
const storedReferences = { violation_reference_id: violationReference, towing_reference_id: towingReference };
export const storedTowRequest = towRequestWebhook.extend(storedReferences);
export type StoredTowRequest = z.infer<typeof storedTowRequest>;
export const storedTowInvoice = towInvoiceWebhook.extend(storedReferences);
export type StoredTowInvoice = z.infer<typeof storedTowInvoice>;

/** Where the service posts each kind of delivery, below the operator's base address. */
export const WEBHOOKS = {
  tow_request: { path: '/tow-request', body: towRequestWebhook },
  tow_invoice: { path: '/tow/invoice', body: towInvoiceWebhook },
} as const;
