import { z } from 'zod';
import type { STANDINGS } from '../domain/vocabulary';

/** What the walk over everything acknowledged has counted: as Redis holds it, and as the API shows it. */

const tallyOf = <T extends z.ZodType>(number: T) =>
  z.object({
    /** Names looked at. */
    acknowledged: number,
    finished: number,
    waiting: number,
    parked: number,
    with_a_person: number,
    lost: number,
    /** Of the lost, those that only lacked their due mark and were given one. */
    repaired: number,
  } satisfies Record<(typeof STANDINGS)[number] | 'acknowledged' | 'repaired', T>);

const storedTally = tallyOf(z.coerce.number().int().default(0));
/** How many stand where. */
export type Tally = z.output<typeof storedTally>;

/** A complete walk; its counts are gathered by kind from the fields of the hash that lua/walk-ledger.lua writes. */
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

const shownTally = tallyOf(z.int());

/** The last complete walk; all counts 0 and all moments null before the first. */
export const conservationView = shownTally.extend({
  /** The first 100 of the lost: `delivery <id>`, `violation <id>` or `report <towing reference> <place in its outbox>`. */
  lost_names: z.array(z.string()),
  by_kind: z.object({ deliveries: shownTally, reports: shownTally, violations: shownTally }),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  walk_ms: z.number().nullable(),
});
export type ConservationView = z.infer<typeof conservationView>;
