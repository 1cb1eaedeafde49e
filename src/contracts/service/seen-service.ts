import { z } from 'zod';
import { DIFFERENCE_SOURCES } from '../../domain/service/difference';
import type { CallCounts, MessageCounts } from '../../domain/service/seen-service';
import { differenceView } from './differences';
import { BUDGET_NAMES } from './operations';

/** What was seen of the service: as it is stored, and as the API shows it. */

const count = z.number();
const counts = z.record(z.string(), count);

/** The messages of an operation or a webhook, as they are stored. */
export const storedMessages = z.looseObject({
  samples: count,
  first: count,
  last: count,
  fields: z.record(z.string(), z.looseObject({ count, first: count, last: count })),
}) satisfies z.ZodType<MessageCounts>;

/** The calls of an operation, as they are stored. */
export const storedCalls = z.record(
  z.string(),
  z.looseObject({ statuses: counts, steps: counts }),
) satisfies z.ZodType<CallCounts>;

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
