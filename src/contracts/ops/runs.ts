import { z } from 'zod';
import { ACTION_ROLES, needsReason, UNIFORM_DECISIONS } from '../../domain/outbox/decisions';
import { ENTRY_KINDS, type Role } from '../../domain/vocabulary';
import { reason, text } from '../../domain/input-schemas';
import { pageQuery } from '../paging';
import { person } from '../common';
import { counter, jsonText, storedTimestampMs } from '../../domain/stored';

/** Runs: one action on many tasks or deliveries. What people request, what the API answers, and how Redis stores it. */

/** The actions that many tasks can take at once. A correction is not among them: its fields differ per report. */
export const TASK_RUN_ACTIONS = [...UNIFORM_DECISIONS, 'resolve'] as const;
/** `replay`: process deliveries again. */
export const RUN_ACTIONS = [...TASK_RUN_ACTIONS, 'replay'] as const;
export type RunAction = (typeof RUN_ACTIONS)[number];

/** The weakest role that may carry out each action on a single item. */
export const RUN_ROLES = { ...ACTION_ROLES, replay: 'ops' } as const satisfies Record<RunAction, Role>;

/**
 * The states of a run.
 *
 * - previewed: the items are chosen and frozen; nothing has been done.
 * - running: workers carry out one item after the other.
 * - done: every item has its result. aborted: a person ended it; items without a result were skipped.
 */
export const RUN_STATES = ['previewed', 'running', 'done', 'aborted'] as const;
export type RunState = (typeof RUN_STATES)[number];

/**
 * The outcome of one item.
 *
 * - waiting: not carried out yet. skipped: not carried out before the run was aborted.
 * - done: carried out. refused: it was not possible; code and message give the reason.
 * - gone: there is no such task or delivery any more, or the task asks something else now.
 */
export const RUN_OUTCOMES = ['waiting', 'done', 'refused', 'gone', 'skipped'] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

/** The most items of one run. */
export const RUN_ITEMS_MAX = 10_000;

const ids = z.array(z.string().min(1).max(500));

/**
 * A request for a preview: tasks by their ids or by what they have in common, deliveries by their ids or by their kind of
 * difference.
 */
export const runPreviewBody = z
  .strictObject({
    action: z.enum(RUN_ACTIONS),
    task_ids: ids.describe('the tasks with these ids').optional(),
    type: text(200).describe('all tasks of this type, such as report_refused').optional(),
    kind: z.enum(ENTRY_KINDS).describe('all tasks about a report of this kind, or about this operation').optional(),
    towing_reference_id: text(500).describe('all tasks of this tow').optional(),
    delivery_ids: ids.describe('the deliveries with these ids').optional(),
    difference_id: z
      .string()
      .min(1)
      .max(200)
      .describe('the deliveries that wait with this kind of difference, the oldest first')
      .optional(),
    reason: reason.optional(),
  })
  .refine(({ action, reason: why }) => action === 'replay' || !needsReason(action) || why !== undefined, {
    path: ['reason'],
    error: 'is required to waive or accept',
  });
export type RunPreviewBody = z.output<typeof runPreviewBody>;

const timestamp = z.string().nullable();
const count = z.number().int();

export const runView = z.object({
  id: z.string(),
  action: z.enum(RUN_ACTIONS),
  reason: z.string().nullable(),
  state: z.enum(RUN_STATES),
  /** Who chose the items, and the id of their key or of the person. */
  by: z.string(),
  by_id: z.string(),
  /** Who started it; each item is carried out with their rights. */
  started_by: z.string().nullable(),
  previewed_at: z.string(),
  started_at: timestamp,
  ended_at: timestamp,
  /** When the record of the run is deleted. */
  expires_at: z.string(),
  total: count,
  /** The number of items per outcome. */
  counts: z.object({ waiting: count, done: count, refused: count, gone: count, skipped: count }),
});
export type RunView = z.output<typeof runView>;

export const runItemsQuery = z.strictObject({ ...pageQuery, outcome: z.enum(RUN_OUTCOMES).optional() });

/** A task or delivery as it was when it was chosen, and its outcome. */
export const runItemView = z.object({
  /** From 0, in the order of the run. */
  position: count,
  /** The id of the task or delivery. */
  id: z.string(),
  /** The type of the task, or the kind of the delivery; empty for one that was gone already. */
  type: z.string(),
  towing_reference_id: z.string().nullable(),
  report_id: z.string().nullable(),
  violation_id: z.string().nullable(),
  outcome: z.enum(RUN_OUTCOMES),
  /** Why it was not carried out; null if it was, or waits. */
  code: z.string().nullable(),
  message: z.string().nullable(),
});
export type RunItemView = z.output<typeof runItemView>;

/** An item as stored. */
const runTarget = z.object({
  id: z.string(),
  /** Distinguishes what a task asked at that time from a later question under the same id. */
  question: z.string(),
  type: z.string(),
  towingReferenceId: z.string().nullable(),
  reportId: z.string().nullable(),
  violationId: z.string().nullable(),
});
export type RunTarget = z.output<typeof runTarget>;
export const runTargets = z.array(runTarget);

/** The part of a run that is frozen when it is created. */
export const runDocument = z.object({
  id: z.string(),
  by: person,
  action: z.enum(RUN_ACTIONS),
  reason: z.string().nullable(),
  total: count,
});
export type RunDocument = z.output<typeof runDocument>;

export const runResult = z.object({
  outcome: z.enum(['done', 'refused', 'gone']),
  code: z.string().nullable(),
  message: z.string().nullable(),
});
export type RunResult = z.output<typeof runResult>;

/** The fields of a run but its items and their results. */
export const runFields = z.object({
  document: jsonText(runDocument),
  state: z.enum(RUN_STATES),
  started_by: jsonText(person).nullable().default(null),
  previewed_at: counter,
  started_at: storedTimestampMs,
  ended_at: storedTimestampMs,
  done: counter,
  refused: counter,
  gone: counter,
});
