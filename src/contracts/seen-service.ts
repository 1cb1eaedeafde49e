import { z } from 'zod';
import { DIFFERENCE_SOURCES } from '../domain/difference';
import { differenceView } from './differences';
import { BUDGET_NAMES } from './operations';

/** What was seen of the service: as processes report it, as it is stored, and as the API shows it. */

/** Counts of one process since its last report. Fields are named `<path> <type>`. */
export interface SeenService {
  readonly messages: Record<string, { samples: number; readonly fields: Record<string, number> }>;
  readonly calls: Record<string, { readonly statuses: Record<string, number>; readonly steps: Record<string, number> }>;
}

const count = z.number();
const counts = z.record(z.string(), count);

/** As stored (lua/see-service.lua). Calls are counted per ten minutes, named by their number since the epoch. */
export const storedService = z.object({
  messages: z.record(
    z.string(),
    z.object({
      samples: count,
      first: count,
      last: count,
      fields: z.record(z.string(), z.object({ count, first: count, last: count })),
    }),
  ),
  calls: z.record(z.string(), z.record(z.string(), z.object({ statuses: counts, steps: counts }))),
});
export type StoredService = z.infer<typeof storedService>;

const timestamp = z.string().nullable();

/** The service as it was seen, beside its document. */
export const serviceView = z.object({
  /** Every operation and webhook. Fields and types only, never a value. */
  messages: z.array(
    z.object({
      source: z.enum(DIFFERENCE_SOURCES),
      /** The operation or the webhook. */
      name: z.string(),
      /** How many messages were looked at: not all of them under load. */
      samples: z.number(),
      first_seen_at: timestamp,
      last_seen_at: timestamp,
      fields: z.array(
        z.object({
          field: z.string(),
          /** The documented types, empty for any; null if it is not documented. */
          documented: z.array(z.string()).nullable(),
          required: z.boolean(),
          seen: z.array(
            z.object({ type: z.string(), count: z.number(), first_seen_at: z.string(), last_seen_at: z.string() }),
          ),
          /** How it differs from the document. */
          mark: z.enum(['none', 'missing', 'sometimes_missing', 'type', 'additional']),
        }),
      ),
    }),
  ),
  /** The calls of about the last hour. */
  operations: z.array(
    z.object({
      operation: z.string(),
      calls: z.number(),
      /** `none`: no answer. */
      statuses: z.array(z.object({ status: z.string(), count: z.number() })),
      p50_ms: z.number().nullable(),
      p95_ms: z.number().nullable(),
      /** The rate limit that it counts against; see GET /api/operations. */
      budget: z.enum(BUDGET_NAMES),
    }),
  ),
  differences: z.array(differenceView),
});
export type ServiceView = z.infer<typeof serviceView>;
