import { z } from 'zod';
import type { RecordEvent, StoredViolation } from '../domain/outbox-record';
import { storedObject } from '../domain/stored';
import { storedTask } from '../domain/tasks';
import { SHADOW_STATES } from '../domain/vocabulary';

/**
 * The fields of a tow and a violation in Redis: one hash per record, JSON in every field but the version. Initial
 * values are left out. Unknown fields are kept.
 */

const nullableNumber = z.number().nullable();
const text = z.string().nullable();

const openTask = z.looseObject({ task: storedTask, openedAtMs: z.number() });
export const storedTasks = z.record(z.string(), openTask);
/** The fields of an archivable record, after inflating. */
export const packedFields = z.record(z.string(), z.string());
export const storedTerms = z.array(z.string());
export const storedEvent: z.ZodType<RecordEvent> = z.looseObject({ atMs: z.number(), entry: storedObject });
export const storedLease = z.object({ token: z.string(), untilMs: z.number(), permitAtMs: z.number().optional() });
export const storedRun = z.looseObject({
  runAtMs: nullableNumber.default(null),
  overSinceMs: nullableNumber.default(null),
  shadow: z.enum(SHADOW_STATES).nullable().default(null),
});
export const storedMeta = z.object({
  violationReferenceId: z.string(),
  metadata: storedObject.nullable(),
  requestedAt: z.string(),
  requestedAtMs: z.number(),
});
export const storedLinks = z.looseObject({
  reference: text.default(null),
  references: z.array(z.string()).default([]),
  assignedReferences: z.array(z.string()).default([]),
  tows: z.array(z.string()).default([]),
  ticket: z.looseObject({ checked_at: z.string(), has_active_ticket: z.boolean() }).nullable().default(null),
  ticketOverruled: z.boolean().default(false),
  heldForTicket: z.boolean().default(false),
  serviceStatus: text.default(null),
  canTow: z.boolean().nullable().default(null),
  /** `cleanupSince` of a violation. */
  unfinishedSince: nullableNumber.default(null),
} satisfies Partial<Record<keyof StoredViolation | 'unfinishedSince', z.ZodType>>);
export const knownLinks = storedLinks.strip();
export type KnownLinks = z.output<typeof knownLinks>;
