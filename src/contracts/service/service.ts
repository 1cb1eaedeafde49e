import { z } from 'zod';
import { sentShape } from '../../domain/tow/fact-fields';
import { violationFields } from '../../domain/violation/violation';
import { PLATE_TYPES } from '../../domain/vocabulary';
import { towingReference, violationReference } from '../../domain/stored';
import { amount, echoedMetadata, metadata } from '../common';
import { sensitive } from '../../domain/sensitive';

/**
 * The messages of the service's interface (docs/service-api.md#fields and #operations). Requests are what we may
 * send; answers keep and allow unknown fields.
 *
 * Open question Q32: compatibility is not documented; unknown fields never break a contract.
 */

/**
 * docs/service-api.md#envelope: the envelope of every answer of a reference operation. `data` has the schema of its
 * operation.
 */
export const envelope = z.looseObject({
  code: z.int(),
  message: z.string(),
  data: z.looseObject({}),
});

/** An access token. A longer one does not fit into a header of common servers and proxies. */
export const accessToken = z
  .string()
  .min(1)
  .max(8 * 1024);

/** docs/service-api.md#get-token. */
export const tokenAnswer = z.looseObject({ token: sensitive(accessToken) });

const tow = { towing_reference_id: towingReference };
const references = { violation_reference_id: violationReference, ...tow };

/**
 * docs/service-api.md#tow-status-updates.
 *
 * Open question Q28: which fields are required is not documented; all of them are always sent.
 */
export const startedRequest = z.strictObject({ ...references, ...sentShape('started') });
export const detainedRequest = z.strictObject({ ...references, ...sentShape('detained') });
export const canceledRequest = z.strictObject({ ...references, ...sentShape('canceled') });
export const releasedRequest = z.strictObject({ ...references, ...sentShape('released') });

/** docs/service-api.md#tow-status-updates and #update-payment-status. */
export const towAnswer = z.looseObject({ towing_reference_id: towingReference, metadata: echoedMetadata.nullish() });

/**
 * docs/service-api.md#create-tow-invoice. Allowed vehicle types are configuration (`VEHICLE_TYPES`), since only HEAVY
 * is documented.
 */
export const invoiceRequest = z.strictObject({ ...tow, ...sentShape('invoice') });
const chargeAnswer = z.looseObject({ total_amount: amount, paid_amount: amount, tax: amount });
export const invoiceAnswer = z.looseObject({
  towing_reference_id: towingReference,
  towing_invoice: chargeAnswer,
  delay_invoice: chargeAnswer.nullish(),
  metadata: echoedMetadata.nullish(),
});

/**
 * docs/service-api.md#update-payment-status. Allowed statuses are configuration (`PAYMENT_STATUSES`), since only PAID
 * is documented.
 */
export const paymentRequest = z.strictObject({ ...tow, ...sentShape('payment') });

/** docs/service-api.md#site-capacity. */
export const capacityRequest = z.strictObject({ zoneId: z.string().min(1) });
export const capacityAnswer = z.looseObject({ zoneId: z.string(), availableSlots: z.int() });

/** docs/service-api.md#active-ticket-check. */
export const ticketRequest = z.strictObject({
  zoneId: z.string().min(1),
  plateNumber: sensitive(z.string().min(1)),
  plateType: z.enum(PLATE_TYPES),
});
export const ticketAnswer = z.looseObject({ hasActiveTicket: z.boolean() });

/** docs/service-api.md#violation-form, without its images. */
export const violationForm = z.strictObject({ ...violationFields, metadata: metadata.optional() });
/**
 * docs/service-api.md#violation-record.
 *
 * Open question Q27: other stored fields are not documented; they are kept with the raw answer and not used.
 * Open question Q29: further states are not documented; any text is accepted.
 */
export const violationAnswer = z.looseObject({
  violation_reference_id: violationReference,
  status: z.string(),
  metadata: echoedMetadata.nullish(),
});

/** docs/service-api.md#create-violation-guide. */
export const guideViolationForm = violationForm.pick({
  plateNumber: true,
  plateType: true,
  zoneId: true,
  violationType: true,
});
export const guideViolationAnswer = z.looseObject({ id: z.string(), canTow: z.boolean() });

/** How much of an answer is stored. Documented answers are far smaller. */
export const KEPT_ANSWER_BYTES_MAX = 64 * 1024;
