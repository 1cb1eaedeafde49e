import { z } from 'zod';
import { jsonObject } from './common';

/** The lines of the archive: what has left Redis, kept for good (src/archive). */

export const ARCHIVED_TYPES = ['tow', 'delivery', 'violation', 'audit'] as const;
export type ArchivedType = (typeof ARCHIVED_TYPES)[number];

/** Where and when: `id` is the towing reference, the delivery id, our id of the violation or the seq of the audit entry. */
const envelope = { id: z.string(), archived_at: z.iso.datetime() };

/**
 * One record as it left Redis. Of its data only what towhook itself reads back is checked: an archive outlives many
 * versions of the records in it.
 *
 * - tow: the whole tow record: the tow with its facts and invoices, its reports with their attempts, its timeline.
 * - delivery: the webhook call with its raw body and what it came to.
 * - violation: the whole record: the form as it was sent last, what the service said, its attempts. Its images are not
 *   kept once the service has them.
 * - audit: `line` as it stood in Redis, `<seq> <at ms> <hash> <json>`.
 */
export const archivedRecord = z.discriminatedUnion('type', [
  z.object({ type: z.literal('tow'), ...envelope, data: jsonObject }),
  z.object({ type: z.literal('delivery'), ...envelope, data: jsonObject }),
  z.object({ type: z.literal('violation'), ...envelope, data: jsonObject }),
  z.object({ type: z.literal('audit'), ...envelope, data: z.object({ line: z.string() }) }),
]);
export type ArchivedRecord = z.infer<typeof archivedRecord>;

/** The last line of every batch: how many lines it seals, their SHA-256, and the SHA-256 of the seal before, '' for none. */
export const archiveSeal = z.strictObject({
  type: z.literal('seal'),
  lines: z.int().min(1),
  sha256: z.string(),
  previous: z.string(),
});
