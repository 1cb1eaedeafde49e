import { z } from 'zod';
import { PAUSABLE_OPERATIONS, ROLES } from '../domain/vocabulary';
import { reason, text } from './fields';
import { jsonText, momentMs, perhapsJson } from './stored';

/** Deciding on many tasks at once: what people ask for, and what Redis holds of a run. */

/** What can be decided for many tasks alike. A correction differs from report to report, so it never is. */
export const BULK_ACTIONS = ['retry', 'waive', 'accept', 'resolve'] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

/**
 * The life of a run.
 *
 * - previewed: the tasks are chosen and frozen; nothing has been decided.
 * - running: a process decides one task after the other.
 * - interrupted: nobody does any more; what was not decided waits until a person lets it go on.
 * - done: every task has its result. aborted: a person ended it; what had not begun was skipped.
 */
export const BULK_STATES = ['previewed', 'running', 'interrupted', 'done', 'aborted'] as const;
export type BulkState = (typeof BULK_STATES)[number];
export const bulkState = z.enum(BULK_STATES);

/**
 * What became of one task.
 *
 * - waiting: not decided yet.
 * - done: decided. refused: it was not possible; code and message say why.
 * - gone: what was asked when the tasks were chosen is no longer asked: somebody decided, or it closed by itself.
 * - skipped: the run was aborted before its turn.
 */
export const BULK_OUTCOMES = ['waiting', 'done', 'refused', 'gone', 'skipped'] as const;
export type BulkOutcome = (typeof BULK_OUTCOMES)[number];
export const bulkOutcome = z.enum(BULK_OUTCOMES);

/**
 * Why a run was interrupted.
 *
 * - process_lost: the process that ran it is gone. console_stopped: it was stopped in good order.
 * - not_answering: a decision could not be made, or nobody knows whether it was, after several tries.
 * - key_ended: the API key of whoever let it run was revoked.
 */
export const BULK_INTERRUPTIONS = ['process_lost', 'console_stopped', 'not_answering', 'key_ended'] as const;
export type BulkInterruption = (typeof BULK_INTERRUPTIONS)[number];

/** So many tasks are decided together at most. */
export const BULK_TASKS_MAX = 1000;

/** Which tasks are meant, by what they have in common; all that is given must be true of a task. */
export const bulkFilter = z.strictObject({
  /** The type of the task, such as `report_refused`. */
  type: text(200).optional(),
  /** The kind of the report it is about, or the operation. */
  kind: z.enum(PAUSABLE_OPERATIONS).optional(),
  towing_reference_id: text(500).optional(),
});
export type BulkFilter = z.output<typeof bulkFilter>;

/** What a person asks to preview: tasks by their ids, or by a filter, never both and never neither. */
export const bulkPreviewBody = z
  .strictObject({
    action: z.enum(BULK_ACTIONS),
    task_ids: z.array(z.string().min(1).max(500)).optional(),
    filter: bulkFilter.optional(),
    reason: reason.optional(),
  })
  .refine(({ action, reason: why }) => !needsReason(action) || why !== undefined, {
    path: ['reason'],
    error: 'is required to waive or accept',
  });
export type BulkPreviewBody = z.output<typeof bulkPreviewBody>;

/** True for decisions that the API takes only with a reason. */
export function needsReason(action: BulkAction): boolean {
  return action === 'waive' || action === 'accept';
}

const person = z.object({ id: z.string(), name: z.string(), role: z.enum(ROLES) });

/** A task as it was when it was chosen; its words stay with the task. */
export const bulkTarget = z.object({
  taskId: z.string(),
  /** Tells the question that was asked then from another one under the same id. */
  question: z.string(),
  taskType: z.string(),
  towingReferenceId: z.string().nullable(),
  reportId: z.string().nullable(),
  violationId: z.string().nullable(),
});
export type BulkTarget = z.output<typeof bulkTarget>;

/** Why a task was not decided, in the API's words. */
export const bulkWords = z.object({ code: z.string(), message: z.string() });
export type BulkWords = z.output<typeof bulkWords>;

/** What is frozen when a run is made. */
export const bulkDocument = z.object({
  id: z.string(),
  by: person,
  action: z.enum(BULK_ACTIONS),
  reason: z.string().nullable(),
});
export type BulkDocument = z.output<typeof bulkDocument>;

const count = z.coerce.number().default(0);

/** A run in Redis but for its items: one hash. */
export const bulkRecord = z.object({
  document: jsonText(bulkDocument),
  state: bulkState,
  /** Raised each time a process takes the run. */
  epoch: z.coerce.number(),
  /** Until when that process surely is the only one, Redis time; 0 when there is none. */
  lease_until: z.coerce.number(),
  /** Who let it run last, and so decides. */
  run_by: perhapsJson(person),
  interruption: z.enum(['', ...BULK_INTERRUPTIONS]).default(''),
  previewed_at: z.coerce.number(),
  started_at: momentMs,
  ended_at: momentMs,
  expires_at: z.coerce.number(),
  waiting: count,
  done: count,
  refused: count,
  gone: count,
  skipped: count,
});
