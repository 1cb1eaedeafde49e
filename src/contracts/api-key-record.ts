import { z } from 'zod';
import { ROLES } from '../domain/vocabulary';

/** A key of a person or program, as stored, without its text. Fields of other versions are kept. */
export const apiKeyRecord = z.looseObject({
  id: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  createdAt: z.string(),
  hash: z.string(),
  /** The text before a rotation and when its grace time ends, Redis time; null when there is none. */
  previous: z.object({ hash: z.string(), validUntilMs: z.number() }).nullable().default(null),
});
export type ApiKeyRecord = z.output<typeof apiKeyRecord>;
