import { z } from 'zod';
import { CREW_STEPS, NO_DISPATCH, type Dispatch } from '../domain/dispatch';
import { reason, text } from './fields';
import { sensitive } from './sensitive';

/** What an operator keeps of a tow for itself (domain/dispatch.ts): as stored, as shown, and what people send. */

/** When it was said, and by whom. */
const said = { at: z.string(), by: z.string() };

/** What is stored and shown alike. */
const assignment = { crew: z.string(), truck: z.string().nullable(), ...said };
const yard = { yard: z.string(), slot: z.string().nullable(), ...said };
const hold = { id: z.string(), reason: z.string(), ...said };
const lifted = { reason: z.string(), ...said };
const note = { text: z.string(), ...said };
const photo = { id: z.string(), name: z.string(), ...said };

const stored = z.looseObject({
  assignment: z.looseObject(assignment).nullable(),
  yard: z.looseObject(yard).nullable(),
  holds: z.array(z.looseObject({ ...hold, lifted: z.looseObject(lifted).nullable() })),
  notes: z.array(z.looseObject(note)),
  steps: z.array(
    z.looseObject({ step: z.enum(CREW_STEPS), occurredAt: z.string(), recordedAt: z.string(), by: z.string() }),
  ),
  photos: z.array(
    z.looseObject({
      ...photo,
      file: z.string(),
      contentType: z.string(),
      sizeBytes: z.number(),
      sha256: z.string(),
    }),
  ),
});
/** As it is stored with the tow; absent in records of versions that did not keep it. */
export const dispatchRecord: z.ZodType<Dispatch> = stored.optional().transform((kept) => kept ?? NO_DISPATCH);

/** As the API shows it. */
export const dispatchView = z.object({
  assignment: z.object(assignment).nullable(),
  yard: z.object(yard).nullable(),
  holds: z.array(z.object({ ...hold, lifted: z.object(lifted).nullable() })),
  notes: z.array(z.object(note)),
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
