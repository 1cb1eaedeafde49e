import { z } from 'zod';
import { entryAttempt, entryError } from '../../domain/outbox/entry';
import { storedTask } from '../../domain/ops/tasks';
import { ROLES } from '../../domain/vocabulary';
import { person } from '../common';

export const reportError = z.object(entryError.shape);
export const attempt = z.object({ ...entryAttempt.shape, outcome: z.string() });

/** A place in the waiting queue of a rate limit. */
export const placeInQueue = z.object({
  /** From 1. */
  place: z.number(),
  /** The length of the queue. */
  of: z.number(),
  /** When it is sent if all before it are sent. */
  leaves_at: z.string(),
  /** Until when the service asked to make no such call; null when it did not. */
  closed_until: z.string().nullable(),
});
export type PlaceInQueue = z.infer<typeof placeInQueue>;

/** A task for people. */
export const task = z.object({
  id: z.string(),
  ...storedTask.shape,
  type: z.string(),
  hint: z.string().nullable().exactOptional(),
  towing_reference_id: z.string().exactOptional(),
  /** When it was opened, Redis time. */
  opened_at: z.string().exactOptional(),
});
export type Task = z.infer<typeof task>;

/** A call of the service on a path of no webhook, such as an event about tickets: kept for review, never processed. */
export const otherCall = z.object({
  id: z.string(),
  path: z.string(),
  received_at: z.string(),
  verified: z.boolean(),
  /** Characters of the body as received. */
  length: z.number(),
  /** At most the first 16,384 characters. */
  raw_body: z.string(),
});
export type OtherCall = z.infer<typeof otherCall>;

/** A stored API key, without its text. Fields of other versions are kept. */
export const apiKeyRecord = z.looseObject({
  id: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  createdAt: z.string(),
  hash: z.string(),
  /** The previous key of a rotation and the end of its grace time, Redis time; null when there is none. */
  previous: z.object({ hash: z.string(), validUntilMs: z.number() }).nullable(),
});
export type ApiKeyRecord = z.output<typeof apiKeyRecord>;

/** A stored session, of an API key or of a person. Neither its id nor the key is stored. */
export const sessionRecord = z.union([
  z.object({ keyHash: z.string(), createdAt: z.string() }),
  z.object({ person, createdAt: z.string() }),
]);
