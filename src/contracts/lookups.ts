import { z } from 'zod';
import { capacityAnswer, ticketAnswer, ticketRequest, violationForm } from './service';

/** What can be asked of the service right now (service-api 4.5), by the names of its own fields. */

export const zoneId = violationForm.shape.zoneId;
export const capacityView = capacityAnswer.extend({
  /** When the service said so; a moment ago when others asked the same. */
  checked_at: z.string(),
});
export const ticketBody = ticketRequest.extend({ zoneId });
export const ticketView = ticketAnswer.extend({ checked_at: z.string() });
