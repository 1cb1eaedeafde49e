import { z } from 'zod';
import { readCursor } from './paging';
import { person } from './person';

/** Runs that judge the deliveries of one kind of difference again: as stored, and as the API shows them. */

/** Times are Unix ms, Redis time. */
export const storedJudgement = z.object({
  by: person,
  /** Deliveries that were received later are not judged by this run. */
  startedAtMs: z.number(),
  endedAtMs: z.number().nullable(),
  /** Deliveries of this kind at the start. */
  total: z.number(),
  /** The last delivery that was judged, as a cursor of the list; null at the start. */
  after: z
    .string()
    .refine((text) => readCursor(text) !== null)
    .nullable(),
});
export type StoredJudgement = z.output<typeof storedJudgement>;

export const judgementView = z.object({
  state: z.enum(['running', 'done']),
  by: z.string(),
  started_at: z.string(),
  ended_at: z.string().nullable(),
  /** Deliveries of this kind at the start. */
  total: z.number(),
  /** Those of them that still differ in the same way, or are not judged yet. */
  remaining: z.number(),
});
export type JudgementView = z.infer<typeof judgementView>;

/** What would become of a delivery that is judged now. */
export const JUDGED_OUTCOMES = ['acted_on', 'not_acted_on', 'differs'] as const;
export type JudgedOutcome = (typeof JUDGED_OUTCOMES)[number];

/** What a run would do now, and the last run. Nothing is changed. */
export const judgementPreview = z.object({
  /** Deliveries that wait with this kind of difference. */
  count: z.number(),
  /** The oldest of them, as many as were read for this preview. */
  read: z.number(),
  /** How many of these would be acted on, closed without effect, or still differ. */
  outcomes: z.object({ acted_on: z.number(), not_acted_on: z.number(), differs: z.number() }),
  examples: z.array(
    z.object({
      delivery_id: z.string(),
      towing_reference_id: z.string(),
      received_at: z.string(),
      outcome: z.enum(JUDGED_OUTCOMES),
      /** The rules that it breaks now, `field: rule`, at most 20. */
      rules: z.array(z.string()),
    }),
  ),
  run: judgementView.nullable(),
});
export type JudgementPreview = z.infer<typeof judgementPreview>;
