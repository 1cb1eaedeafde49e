import { z } from 'zod';
import { BACKLOGS, COUNTS, LATENCIES, LEVELS } from '../domain/figures';

/** What the Ops page charts, and what processes say of themselves. */

/**
 * The lines of a chart:
 *
 * - `accepted.<delivery kind>`, `processed.<delivery kind>`, `delivered.<sent kind>`, `attempts.<outcome>`: per minute.
 * - `delivery.p50`, `delivery.p95`, `report.…`, `attempt.…`: ms (what is timed: domain/figures.ts, LATENCIES).
 * - `due.<backlog>`, `tasks`, `held`: how many; `oldest.<backlog>`: ms. The highest that was seen.
 */
export const LINES = [
  ...COUNTS,
  ...LATENCIES.map((latency) => `${latency}.p50` as const),
  ...LATENCIES.map((latency) => `${latency}.p95` as const),
  ...LEVELS,
];
export type Line = (typeof LINES)[number];

/** Every line with its points. */
export const seriesLines = z.record(z.enum(LINES), z.array(z.number().nullable()).readonly()).readonly();

/** The roles whose processes say that they live. */
export const BEATING_ROLES = ['receiver', 'worker', 'console', 'all'] as const;
export type BeatingRole = (typeof BEATING_ROLES)[number];

/** What a process says of itself. Moments are ms since it started, by its own clock that never jumps. */
export const processDocument = z.object({
  role: z.enum(BEATING_ROLES),
  hostName: z.string(),
  processId: z.number(),
  version: z.string(),
  nodeVersion: z.string(),
  /** Names of the readiness checks that fail. */
  problems: z.array(z.string()).readonly(),
  /** Of a process with a worker. */
  queues: z
    .array(z.object({ name: z.enum(BACKLOGS), lastTookMs: z.number().nullable(), standsStill: z.boolean() }))
    .readonly(),
});
export type ProcessDocument = z.infer<typeof processDocument>;

/** The reply of beat.lua. */
export const beatReply = z.tuple([z.enum(['sample', '']), z.coerce.number()]);
