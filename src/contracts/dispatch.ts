import { z } from 'zod';
import { CREW_STEPS, NO_DISPATCH, type Dispatch } from '../domain/dispatch';
import { reason, text } from './fields';
import { sensitive } from './sensitive';

/** What an operator keeps of a tow for itself (domain/dispatch.ts): as stored, as shown, and what people send. */

/** When it was said, and by whom. */
const said = { at: z.string(), by: z.string() };

/** What is stored and shown alike. */
const alike = {
  assignment: z.object({ crew: z.string(), truck: z.string().nullable(), ...said }).nullable(),
  yard: z.object({ yard: z.string(), slot: z.string().nullable(), ...said }).nullable(),
  holds: z.array(
    z.object({
      id: z.string(),
      reason: z.string(),
      ...said,
      lifted: z.object({ reason: z.string(), ...said }).nullable(),
    }),
  ),
  notes: z.array(z.object({ text: z.string(), ...said })),
};

const stored = z.object({
  ...alike,
  steps: z.array(
    z.object({ step: z.enum(CREW_STEPS), occurredAt: z.string(), recordedAt: z.string(), by: z.string() }),
  ),
  photos: z.array(
    z.object({
      id: z.string(),
      file: z.string(),
      name: z.string(),
      contentType: z.string(),
      sizeBytes: z.number(),
      sha256: z.string(),
      ...said,
    }),
  ),
});
/** As it is stored with the tow; absent in records of versions that did not keep it. */
export const dispatchRecord: z.ZodType<Dispatch> = stored.optional().transform((kept) => kept ?? NO_DISPATCH);

/** As the API shows it. */
export const dispatchView = z.object({
  ...alike,
  steps: z.array(
    z.object({ step: z.enum(CREW_STEPS), occurred_at: z.string(), recorded_at: z.string(), by: z.string() }),
  ),
  photos: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      content_type: z.string(),
      size_bytes: z.number(),
      sha256: z.string(),
      ...said,
    }),
  ),
});

/** `crew: null` takes the assignment back. Names of crews are personal data. */
export const assignmentBody = z.strictObject({
  crew: sensitive(text(100)).nullable(),
  truck: text(100).optional(),
});
export const stepBody = z.strictObject({ step: z.enum(CREW_STEPS), occurred_at: z.string().optional() });
export const yardBody = z.strictObject({ yard: text(100), slot: text(100).optional() });
export const holdBody = z.strictObject({ reason });
export const liftBody = z.strictObject({ reason });
export const noteBody = z.strictObject({ text: text(2000) });
