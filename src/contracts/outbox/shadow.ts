import { z } from 'zod';
import { ENTRY_KINDS, SERVICE_MODES } from '../../domain/vocabulary';
import { jsonObject } from '../common';
import { page } from '../paging';
import { sensitive } from '../../domain/sensitive';

/** The tows and violations of a shadow time, and the calls that would have been made for them. */

const shadowCall = z.object({
  /** The id of the report; of a violation its own id. */
  report_id: z.string(),
  operation: z.enum(ENTRY_KINDS),
  method: z.string(),
  /** The address of the call, with the base address of the service. */
  address: z.string(),
  recorded_at: z.string(),
  /** As it would be sent. The fields of a form; `metadata` is the text that is sent. */
  body: jsonObject,
  /** File names of the images that would be sent with a form. */
  images: z.array(z.string()),
});
export type ShadowCall = z.infer<typeof shadowCall>;

const shadowItem = z.object({
  kind: z.enum(['tow', 'violation']),
  /** The towing reference, or our id of the violation. */
  id: z.string(),
  violation_reference_id: z.string().nullable(),
  plate_number: sensitive(z.string().nullable()),
  state: z.string(),
  since: z.string(),
  /** Calls that are not settled, in the order in which they would leave. */
  calls: z.array(shadowCall),
});
export type ShadowItem = z.infer<typeof shadowItem>;

/** `shadow`: nothing is sent. `switch` is what ops has set; else a process runs with SERVICE_MODE=shadow. */
export const modeView = z.object({
  state: z.enum(SERVICE_MODES),
  since: z.string().nullable(),
  switch: z.enum(SERVICE_MODES),
});
export type ModeView = z.infer<typeof modeView>;

export const shadowView = page(shadowItem).extend({
  mode: modeView,
  /** All held tows and violations. */
  held: z.number(),
});
export type ShadowView = z.infer<typeof shadowView>;
