import { z } from 'zod';
import type { PathAnswers } from '../../domain/webhook/webhook-answers';

/** Files of webhook secrets that cannot be used. */
export const storedSecretsFault = z.object({
  variables: z.array(z.string()),
  host: z.string(),
  sinceMs: z.number(),
});

/** What receivers answered on a path, as it is stored. Times are ms. Reasons that only a later version knows are kept. */
export const storedPathAnswers: z.ZodType<PathAnswers> = z
  .object({
    accepted_at: z.number().nullable().default(null),
    refused: z.record(z.string(), z.number()).catch({}),
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

/** The JSON of it. Fields without a value are left out. */
export function encodePathAnswers(answers: PathAnswers): string {
  return JSON.stringify({
    accepted_at: answers.acceptedAtMs ?? undefined,
    refused: answers.refused,
    refused_since: answers.refusedSinceMs ?? undefined,
    refused_at: answers.refusedAtMs ?? undefined,
    behind_seconds: answers.behindSeconds ?? undefined,
    proxied: answers.isProxied,
  });
}
