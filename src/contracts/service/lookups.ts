import { z } from 'zod';
import { visiblePlateText } from '../../domain/input-schemas';
import { capacityAnswer, ticketAnswer, ticketRequest, violationForm } from './service';

/** Lookups at the service (docs/service-api.md#guide-operations), in its own field names. */

export const zoneId = violationForm.shape.zoneId;
export const capacityView = capacityAnswer.extend({
  /** When the service answered; earlier than the request if the answer was cached. */
  checked_at: z.string(),
});
export const ticketBody = ticketRequest.extend({
  zoneId,
  plateNumber: visiblePlateText(),
});
export const ticketView = ticketAnswer.extend({ checked_at: z.string() });
