import { z } from 'zod';
import { REFUSAL_REASONS, type PathAnswers } from '../domain/webhook-answers';

/** Files of webhook secrets that cannot be used. */
export const storedSecretsFault = z.object({
  variables: z.array(z.string()),
  host: z.string(),
  sinceMs: z.number(),
});

/** What receivers answered on a path, as lua/count-answers.lua stores it. Times are ms. */
export const storedPathAnswers: z.ZodType<PathAnswers> = z
  .object({
    accepted_at: z.number().nullable().default(null),
    refused: z.partialRecord(z.enum(REFUSAL_REASONS), z.number()).catch({}),
    refused_since: z.number().nullable().default(null),
    refused_at: z.number().nullable().default(null),
    behind_seconds: z.number().nullable().default(null),
    proxied: z.boolean().default(false),
  })
  .transform((stored) => ({
    acceptedAtMs: stored.accepted_at,
    refused: stored.refused,
    refusedSinceMs: stored.refused_since,
    refusedAtMs: stored.refused_at,
    behindSeconds: stored.behind_seconds,
    isProxied: stored.proxied,
  }));
