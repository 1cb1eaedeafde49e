import { ENTRY_KINDS } from '../domain/vocabulary';
import { z } from 'zod';
import { needsReason, UNIFORM_DECISIONS } from '../domain/decisions';
import { reason, text } from '../domain/input-schemas';
import { person } from './person';

/** Decisions on many tasks at once: what people request, and how Redis stores a run. */

/** The actions that many tasks can take at once. A correction is not among them: its fields differ per report. */
export const BULK_ACTIONS = [...UNIFORM_DECISIONS, 'resolve'] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

/**
 * The states of a run.
 *
 * - previewed: the tasks are chosen and frozen; nothing has been decided.
 * - running: workers decide one task after the other.
 * - interrupted: the API key of the person who started it was revoked; a person must resume it.
 * - done: every task has its result. aborted: a person ended it; tasks that had not begun were skipped.
 */
export const BULK_STATES = ['previewed', 'running', 'interrupted', 'done', 'aborted'] as const;
export type BulkState = (typeof BULK_STATES)[number];

/**
 * The outcome of one task.
 *
 * - waiting: not decided yet.
 * - done: decided. refused: it was not possible; code and message give the reason.
 * - gone: the task is closed or asks something else now: a person decided, or it closed by itself.
 * - skipped: the run was aborted before this task began.
 */
export const BULK_OUTCOMES = ['waiting', 'done', 'refused', 'gone', 'skipped'] as const;
export type BulkOutcome = (typeof BULK_OUTCOMES)[number];

/** The most tasks of one run. */
export const BULK_TASKS_MAX = 1000;

/** Which tasks are meant, by what they have in common; all that is given must be true of a task. */
const bulkFilter = z.strictObject({
  /** The type of the task, such as `report_refused`. */
  type: text(200).optional(),
  /** The kind of the report it is about, or the operation. */
  kind: z.enum(ENTRY_KINDS).optional(),
  towing_reference_id: text(500).optional(),
});

/** A request for a preview: tasks by their ids or by a filter. */
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

/** A task as it was when it was chosen. */
const bulkTarget = z.object({
  taskId: z.string(),
  /** Distinguishes the question of that time from a later one under the same id. */
  question: z.string(),
  taskType: z.string(),
  towingReferenceId: z.string().nullable(),
  reportId: z.string().nullable(),
  violationId: z.string().nullable(),
});
export type BulkTarget = z.output<typeof bulkTarget>;

/** Why a task was not decided, as the operator API reported it. */
const bulkRefusal = z.object({ code: z.string(), message: z.string() });
export type BulkRefusal = z.output<typeof bulkRefusal>;

/** The part of a run that is frozen when it is created. */
export const bulkDocument = z.object({
  id: z.string(),
  by: person,
  action: z.enum(BULK_ACTIONS),
  reason: z.string().nullable(),
});
export type BulkDocument = z.output<typeof bulkDocument>;

const count = z.number().int();

/** The part of a run that changes. Times are Unix ms, Redis time. */
export const bulkHead = z.object({
  state: z.enum(BULK_STATES),
  /** The person who started or resumed it last; each decision is made with their rights. */
  runBy: person.nullable(),
  previewedAtMs: z.number(),
  startedAtMs: z.number().nullable(),
  endedAtMs: z.number().nullable(),
  expiresAtMs: z.number(),
  counts: z.object({ waiting: count, done: count, refused: count, gone: count, skipped: count }),
  /**
   * The position of the task to decide next, or null. In an aborted run: the task that was perhaps being decided at the
   * time of the abort, until its result is known.
   */
  current: count.nullable(),
  /** Tries to decide the current task that failed. */
  failures: count,
});
export type BulkHead = z.output<typeof bulkHead>;

/** One task of a run as stored; its result is stored beside it. */
export const bulkStoredItem = bulkTarget.extend({
  /** The position of the next task that can be decided; null at the last one. */
  next: count.nullable(),
});

export const bulkResult = z.object({
  outcome: z.enum(['done', 'refused', 'gone', 'skipped']),
  words: bulkRefusal.nullable(),
});
export type BulkResult = z.output<typeof bulkResult>;
