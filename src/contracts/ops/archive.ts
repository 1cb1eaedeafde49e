import { z } from 'zod';
import { jsonObject } from '../common';

/** The lines of the archive: what was removed from Redis, kept permanently (src/archive). */

export const ARCHIVED_TYPES = ['tow', 'delivery', 'violation', 'audit'] as const;
export type ArchivedType = (typeof ARCHIVED_TYPES)[number];

/** How many records there are of each type. */
export type RecordCounts = Readonly<Record<ArchivedType, number>>;

/** `id` is the towing reference, the delivery id, our id of the violation or the seq of the audit entry. */
const envelope = { id: z.string(), archived_at: z.iso.datetime() };

/**
 * An archived record. Only what towhook reads back is checked, since an archive outlives many record versions.
 *
 * - tow: the tow with facts, invoices, reports, attempts and timeline.
 * - delivery: the webhook call with its raw body and verdict.
 * - violation: the form as sent last, the answers and attempts. Its images are not kept once the service has them.
 * - audit: `line` as it was in Redis, `<seq> <at ms> <hash> <json>`.
 */
export const archivedRecord = z.discriminatedUnion('type', [
  z.object({ type: z.literal('tow'), ...envelope, data: jsonObject }),
  z.object({ type: z.literal('delivery'), ...envelope, data: jsonObject }),
  z.object({ type: z.literal('violation'), ...envelope, data: jsonObject }),
  z.object({ type: z.literal('audit'), ...envelope, data: z.object({ line: z.string() }) }),
]);
export type ArchivedRecord = z.infer<typeof archivedRecord>;

/**
 * The only line of an encrypted batch before its digest: how many records of each type it holds, and their lines,
 * deflated and encrypted (platform/data-keys.ts). The place of the line is authenticated with it (archive/batch.ts).
 */
export const encryptedRecords = z.strictObject({
  type: z.literal('encrypted'),
  records: z.partialRecord(z.enum(ARCHIVED_TYPES), z.int().min(1)),
  data: z.string(),
});
export type EncryptedRecords = z.infer<typeof encryptedRecords>;

/**
 * The last line of a batch: the number of lines before it, their SHA-256, and the SHA-256 of the previous digest, '' for
 * none.
 */
export const archiveDigest = z.strictObject({
  type: z.literal('digest'),
  lines: z.int().min(1),
  sha256: z.string(),
  previous: z.string(),
});
