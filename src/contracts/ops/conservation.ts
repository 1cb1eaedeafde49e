import { z } from 'zod';
import type { STANDINGS } from '../../domain/vocabulary';

/** Counts of the conservation check, as stored and as the API shows them. */

const countsOf = <T extends z.ZodType>(number: T) =>
  z.object({
    /** Items checked. */
    acknowledged: number,
    finished: number,
    waiting: number,
    parked: number,
    with_a_person: number,
    lost: number,
    /** Lost items that only lacked an index entry, which was restored. */
    repaired: number,
  } satisfies Record<(typeof STANDINGS)[number] | 'acknowledged' | 'repaired', T>);

const storedCounts = countsOf(z.coerce.number().int().default(0));
/** Number of items per state. */
export type ConservationCounts = z.output<typeof storedCounts>;

const namesText = z
  .string()
  .default('[]')
  .transform((text) => z.array(z.string()).parse(JSON.parse(text)));

/** A complete scan. Its counts are gathered by kind from the fields of its hash. */
export const scanRecord = z
  .object({
    started_at: z.coerce.number().int(),
    ended_at: z.coerce.number().int(),
    lost_names: namesText,
    deliveries: storedCounts,
    reports: storedCounts,
    violations: storedCounts,
  })
  .transform((stored) => ({
    startedAtMs: stored.started_at,
    endedAtMs: stored.ended_at,
    lostNames: stored.lost_names,
    deliveries: stored.deliveries,
    reports: stored.reports,
    violations: stored.violations,
  }));

const score = z.number();

/** A scan in progress. Its ends and position are scores and members of the indexes that it scans. */
const scanProgress = z.object({
  startedAtMs: z.number(),
  ends: z.object({ deliveries: score, tows: score, violations: score }),
  place: z.object({ index: z.enum(['deliveries', 'tows', 'violations']), score, member: z.string() }).nullable(),
  tallies: z.object({ deliveries: storedCounts, reports: storedCounts, violations: storedCounts }),
  lostNames: z.array(z.string()),
});
export type ScanProgress = z.output<typeof scanProgress>;

/** The scan that all processes share. `busy_until` and `next_at` are Redis time, ms. */
export const scanState = z.object({
  v: z.string().default(''),
  next_at: z.coerce.number().default(0),
  busy_until: z.coerce.number().default(0),
  progress: z
    .string()
    .transform((json) => scanProgress.parse(JSON.parse(json)))
    .nullable()
    .default(null),
});

const shownCounts = countsOf(z.int());

/** The last complete scan; before the first all counts are 0 and all timestamps null. */
export const conservationView = shownCounts.extend({
  /**
   * The first 100 lost items: `delivery <id>`, `violation <id>`, `report <towing reference> <place in its outbox>`,
   * or `tow <towing reference>` when the whole record is gone; that counts as one report.
   */
  lost_names: z.array(z.string()),
  by_kind: z.object({ deliveries: shownCounts, reports: shownCounts, violations: shownCounts }),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  check_ms: z.number().nullable(),
});
export type ConservationView = z.infer<typeof conservationView>;
