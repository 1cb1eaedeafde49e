import { z } from 'zod';
import { CREW_STEPS, assignment, hold, liftedHold, note, yardPlace } from '../../domain/tow/dispatch';
import type { DispatchCommand } from '../../domain/tow/dispatch-rules';
import { reason, text } from '../../domain/input-schemas';
import { timestamp } from '../../domain/tow/fact-fields';
import { readableFieldsOf } from '../common';
import { sensitive } from '../../domain/sensitive';

/** Dispatch data, which an operator keeps for itself (domain/tow/dispatch.ts): as the API shows it, and as sent by people. */

export const dispatchView = z.object({
  assignment: z.object(assignment.shape).nullable(),
  yard: z.object(yardPlace.shape).nullable(),
  holds: z.array(z.object({ ...hold.shape, lifted: z.object(liftedHold.shape).nullable() })),
  notes: z.array(z.object(note.shape)),
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
      at: z.string(),
      by: z.string(),
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
