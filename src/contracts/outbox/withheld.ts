import { z } from 'zod';
import { ENTRY_KINDS, SERVICE_MODES, WITHHELD_STATES, type WithheldState } from '../../domain/vocabulary';
import { jsonObject } from '../common';
import { page } from '../paging';
import { sensitive } from '../../domain/sensitive';

/** The withheld tows and violations, and the calls that would have been made for them. */

const withheldCall = z.object({
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
export type WithheldCall = z.infer<typeof withheldCall>;

const withheldItem = z.object({
  kind: z.enum(['tow', 'violation']),
  /** The towing reference, or our id of the violation. */
  id: z.string(),
  violation_reference_id: z.string().nullable(),
  plate_number: sensitive(z.string().nullable()),
  state: z.string(),
  since: z.string(),
  /** Calls that are not settled, in the order in which they would leave. */
  calls: z.array(withheldCall),
});
export type WithheldItem = z.infer<typeof withheldItem>;

/** `shadow`: nothing is sent. `switch` is what ops has set; else a process runs with SERVICE_MODE=shadow. */
export const modeView = z.object({
  state: z.enum(SERVICE_MODES),
  since: z.string().nullable(),
  switch: z.enum(SERVICE_MODES),
});
export type ModeView = z.infer<typeof modeView>;

export const withheldView = page(withheldItem).extend({
  mode: modeView,
  /** All held tows and violations. */
  held: z.number(),
});
export type WithheldView = z.infer<typeof withheldView>;

/** The field of a tow or violation. `held`: of a shadow time, until a person decides. `declined`: never sent. */
export const withheldField = { shadow: z.enum(WITHHELD_STATES).nullable() };
type WithheldField = { readonly shadow: WithheldState | null };

export function withheldFieldOf({ withheld }: { readonly withheld: WithheldState | null }): WithheldField {
  return { shadow: withheld };
}

export function isHeld({ shadow }: WithheldField): boolean {
  return shadow === 'held';
}
