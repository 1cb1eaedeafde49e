import { z } from 'zod';
import { CREW_STEPS, NO_DISPATCH, type Dispatch } from '../domain/dispatch';
import { reason, text } from './fields';
import { sensitive } from './sensitive';

/** What an operator keeps of a tow for itself (domain/dispatch.ts): as stored, as shown, and what people send. */

const stored = z.object({
  assignment: z.object({ crew: z.string(), truck: z.string().nullable(), at: z.string(), by: z.string() }).nullable(),
  steps: z.array(
    z.object({ step: z.enum(CREW_STEPS), occurredAt: z.string(), recordedAt: z.string(), by: z.string() }),
  ),
  yard: z.object({ yard: z.string(), slot: z.string().nullable(), at: z.string(), by: z.string() }).nullable(),
  holds: z.array(
    z.object({
      id: z.string(),
      reason: z.string(),
      at: z.string(),
      by: z.string(),
      lifted: z.object({ reason: z.string(), at: z.string(), by: z.string() }).nullable(),
    }),
  ),
  notes: z.array(z.object({ text: z.string(), at: z.string(), by: z.string() })),
  photos: z.array(
    z.object({
      id: z.string(),
      file: z.string(),
      name: z.string(),
      contentType: z.string(),
      sizeBytes: z.number(),
      sha256: z.string(),
      at: z.string(),
      by: z.string(),
    }),
  ),
});
/** As it is stored with the tow; absent in records of versions that did not keep it. */
export const dispatchRecord: z.ZodType<Dispatch> = stored.optional().transform((kept) => kept ?? NO_DISPATCH);

/** As the API shows it. */
export const dispatchView = z.object({
  assignment: z.object({ crew: z.string(), truck: z.string().nullable(), at: z.string(), by: z.string() }).nullable(),
  steps: z.array(
    z.object({ step: z.enum(CREW_STEPS), occurred_at: z.string(), recorded_at: z.string(), by: z.string() }),
  ),
  yard: z.object({ yard: z.string(), slot: z.string().nullable(), at: z.string(), by: z.string() }).nullable(),
  holds: z.array(
    z.object({
      id: z.string(),
      reason: z.string(),
      at: z.string(),
      by: z.string(),
      lifted: z.object({ reason: z.string(), at: z.string(), by: z.string() }).nullable(),
    }),
  ),
  notes: z.array(z.object({ text: z.string(), at: z.string(), by: z.string() })),
  photos: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      content_type: z.string(),
      size_bytes: z.number(),
      sha256: z.string(),
      at: z.string(),
      by: z.string(),
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
