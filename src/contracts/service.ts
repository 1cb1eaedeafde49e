import { z } from 'zod';
import { PLATE_TYPES, VIOLATION_TYPES } from '../domain/vocabulary';
import { amount, echoedMetadata, metadata, towingReference, violationReference } from './common';
import { sensitive } from './sensitive';

/**
 * The messages of the service's interface (service-api 2 and 4), one schema each. Requests are what we may send;
 * answers keep unknown fields and never refuse them.
 */

/** service-api 1: every answer of a reference operation. `data` is checked by the operation's own schema. */
export const envelope = z.looseObject({
  code: z.int(),
  message: z.string(),
  data: z.looseObject({}),
});

/** An access token; a longer one does not fit into a header of common servers and proxies. */
export const accessToken = z
  .string()
  .min(1)
  .max(8 * 1024);

/** service-api 4.5, get token. */
export const tokenAnswer = z.looseObject({ token: sensitive(accessToken) });

const references = { violation_reference_id: violationReference, towing_reference_id: towingReference };

/** service-api 4.2. */
export const startedRequest = z.strictObject({
  ...references,
  plate_number: sensitive(z.string().min(1)),
  towed_location: z.string().min(1),
  latitude: z.number(),
  longitude: z.number(),
  status_update_time: z.string().min(1),
});
export const detainedRequest = z.strictObject(references);
export const canceledRequest = z.strictObject({ ...references, cancellation_reason: z.string().min(1) });
export const releasedRequest = z.strictObject(references);

/** service-api 4.2 and 4.4. */
export const towAnswer = z.looseObject({ towing_reference_id: towingReference, metadata: echoedMetadata.nullish() });

/** service-api 4.3. Allowed vehicle types are configuration (`VEHICLE_TYPES`), since only HEAVY is documented. */
export const invoiceRequest = z.strictObject({
  towing_reference_id: towingReference,
  vehicle_type: z.string().min(1),
  delay_in_days: z.int().min(0),
});
export const chargeAnswer = z.looseObject({ total_amount: amount, paid_amount: amount, tax: amount });
export const invoiceAnswer = z.looseObject({
  towing_reference_id: towingReference,
  towing_invoice: chargeAnswer,
  delay_invoice: chargeAnswer.nullish(),
  metadata: echoedMetadata.nullish(),
});

/** service-api 4.4. Allowed statuses are configuration (`PAYMENT_STATUSES`), since only PAID is documented. */
export const paymentRequest = z.strictObject({
  towing_reference_id: towingReference,
  payment_status: z.string().min(1),
});

/** service-api 4.5, site capacity. */
export const capacityRequest = z.strictObject({ zoneId: z.string().min(1) });
export const capacityAnswer = z.looseObject({ zoneId: z.string(), availableSlots: z.int() });

/** service-api 4.5, active ticket check. */
export const ticketRequest = z.strictObject({
  zoneId: z.string().min(1),
  plateNumber: sensitive(z.string().min(1)),
  plateType: z.enum(PLATE_TYPES),
});
export const ticketAnswer = z.looseObject({ hasActiveTicket: z.boolean() });

/** service-api 2.1, the fields of the form; the images travel beside it. */
export const violationForm = z.strictObject({
  date: z.string().optional(),
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  location: z.string().min(1),
  plateNumber: sensitive(z.string().min(1)),
  plateType: z.enum(PLATE_TYPES),
  /** Any 8-4-4-4-12 hexadecimal id: the document asks for a UUID and for no version of it. */
  zoneId: z.guid('must be a UUID'),
  imagesDescription: z.string().optional(),
  violationType: z.enum(VIOLATION_TYPES),
  isSaudi: z.boolean().optional(),
  metadata: metadata.optional(),
  fullName: sensitive(z.string()).optional(),
  identityNumber: sensitive(z.string()).optional(),
  mobileNumber: sensitive(z.string()).optional(),
  supervisorFullName: sensitive(z.string()).optional(),
  supervisorIdentityNumber: sensitive(z.string()).optional(),
  supervisorMobileNumber: sensitive(z.string()).optional(),
});
/** service-api 2.4. */
export const violationAnswer = z.looseObject({
  violation_reference_id: violationReference,
  status: z.string(),
  metadata: echoedMetadata.nullish(),
});

/** service-api 4.5, create violation (guide form). */
export const guideViolationForm = violationForm.pick({
  plateNumber: true,
  plateType: true,
  zoneId: true,
  violationType: true,
});
export const guideViolationAnswer = z.looseObject({ id: z.string(), canTow: z.boolean() });

/** How much of an answer is kept with what it answers; the answers of the documented operations are far smaller. */
export const KEPT_ANSWER_BYTES_MAX = 64 * 1024;

/** service-api 2.1 and 8: total size of the images of one violation. */
export const IMAGES_TOTAL_BYTES_MAX = 10 * 1024 * 1024;
