import { z } from 'zod';
import { DELIVERY_STATES, type STANDINGS } from '../domain/vocabulary';
import { momentMs } from './stored';

/** The counts of the conservation check, as Redis holds them and as the API shows them. */

const tallyOf = <T extends z.ZodType>(number: T) =>
  z.object({
    /** Names looked at. */
    acknowledged: number,
    finished: number,
    waiting: number,
    parked: number,
    with_a_person: number,
    lost: number,
    /** Of the lost, those that only lacked an index entry and got it back. */
    repaired: number,
  } satisfies Record<(typeof STANDINGS)[number] | 'acknowledged' | 'repaired', T>);

const storedTally = tallyOf(z.coerce.number().int().default(0));
/** How many stand where. */
export type Tally = z.output<typeof storedTally>;

/** A complete scan; its counts are gathered by kind from the fields of its hash. */
export const walkRecord = z
  .object({
    started_at: z.coerce.number().int(),
    ended_at: z.coerce.number().int(),
    lost_names: z
      .string()
      .default('[]')
      .transform((text) => z.array(z.string()).parse(JSON.parse(text))),
    deliveries: storedTally,
    reports: storedTally,
    violations: storedTally,
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

/** A scan that is under way. Its ends and its place are scores and members of the indexes that are its ledger. */
export const scanProgress = z.object({
  startedAtMs: z.number(),
  ends: z.object({ deliveries: score, tows: score, violations: score }),
  place: z.object({ index: z.enum(['deliveries', 'tows', 'violations']), score, member: z.string() }).nullable(),
  tallies: z.object({ deliveries: storedTally, reports: storedTally, violations: storedTally }),
  lostNames: z.array(z.string()),
});
export type ScanProgress = z.output<typeof scanProgress>;

/** The hash of the scan that all processes share. `busy_until` and `next_at` are Redis time, ms. */
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

/** What the conservation check reads of a delivery. */
export const checkedDelivery = z
  .object({
    v: z.string(),
    state: z.enum(DELIVERY_STATES),
    towing_reference_id: z.string(),
    verdict: z.string().nullable(),
    processed_at: momentMs,
  })
  .transform((stored) => ({
    version: stored.v,
    state: stored.state,
    towingReferenceId: stored.towing_reference_id,
    verdict: stored.verdict,
    processedAtMs: stored.processed_at,
  }));

const shownTally = tallyOf(z.int());

/** The last complete scan; all counts 0 and all moments null before the first. */
export const conservationView = shownTally.extend({
  /**
   * The first 100 of the lost: `delivery <id>`, `violation <id>`, `report <towing reference> <place in its outbox>`, or
   * `tow <towing reference>` when the whole record is gone; that counts as one report.
   */
  lost_names: z.array(z.string()),
  by_kind: z.object({ deliveries: shownTally, reports: shownTally, violations: shownTally }),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  walk_ms: z.number().nullable(),
});
export type ConservationView = z.infer<typeof conservationView>;
