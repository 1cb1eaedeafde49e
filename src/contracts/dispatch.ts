import { z } from 'zod';
import { CREW_STEPS, type Dispatch } from '../domain/dispatch';
import type { DispatchCommand } from '../domain/dispatch-rules';
import { reason, text } from './common';
import { timestamp } from './facts';
import { readableFieldsOf } from './readable-fields';
import { sensitive } from '../domain/sensitive';

/**
 * Dispatch data, which an operator keeps for itself (domain/dispatch.ts): as stored, as shown, and as sent by people.
 */

const attribution = { at: z.string(), by: z.string() };

/** Fields that are stored and shown alike. */
const assignment = { crew: z.string(), truck: z.string().nullable(), ...attribution };
const yard = { yard: z.string(), slot: z.string().nullable(), ...attribution };
const hold = { id: z.string(), reason: z.string(), ...attribution };
const lifted = { reason: z.string(), ...attribution };
const note = { text: z.string(), ...attribution };
const photo = { id: z.string(), name: z.string(), ...attribution };

/** Dispatch data as stored with the tow. */
export const dispatchRecord: z.ZodType<Dispatch> = z.looseObject({
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
      isDamaged: z.boolean().optional(),
    }),
  ),
});

/** Dispatch data as the API shows it. */
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
      ...attribution,
    }),
  ),
});

/** `crew: null` removes the assignment. Crew names are personal data. */
export const assignmentBody = z.strictObject({
  crew: sensitive(text(100)).nullable(),
  truck: text(100).optional(),
});
export const stepBody = z.strictObject({
  step: z.enum(CREW_STEPS),
  occurred_at: timestamp.optional().describe('when it happened; default: now'),
});
export const yardBody = z.strictObject({ yard: text(100), slot: text(100).optional() });
export const holdBody = z.strictObject({ reason });
export const liftBody = z.strictObject({ reason });
export const noteBody = z.strictObject({ text: text(2000) });

const readableAssignment = readableFieldsOf(assignmentBody);
const readableStep = readableFieldsOf(stepBody);

/** The command of only those fields that keep the contract, or null if they say nothing about a crew. */
export function readableAssignmentOf(given: unknown): DispatchCommand | null {
  const { crew, truck } = readableAssignment(given) ?? {};
  return crew === undefined ? null : { kind: 'assign', crew, truck };
}

/** The command of only those fields that keep the contract, or null for a body that is not an object. */
export function readableStepOf(given: unknown): DispatchCommand | null {
  const fields = readableStep(given);
  return fields && { kind: 'step', step: fields.step, occurredAt: fields.occurred_at };
}
