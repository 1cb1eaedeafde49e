import { z } from 'zod';
import { storedTimestampMs } from '../../domain/stored';

/** What a backup contains, `manifest.json` in its folder, and what Redis knows about its backups. */

/** The files of a backup besides copies of `DATA_DIR`, which are below `data`. */
export const SNAPSHOT = 'redis.rdb';
export const MANIFEST = 'manifest.json';

/** A file below the folder of the backup; always with `/`, never out of the folder. */
const filePath = z
  .string()
  .regex(/^(?:redis\.rdb|data\/(?:spool|photos|archive)\/.+)$/)
  .refine((path) => !path.split('/').includes('..'));

const backedUpFile = z.object({
  path: filePath,
  bytes: z.number().int().min(0),
  sha256: z.string().regex(/^[\da-f]{64}$/),
});
export type BackedUpFile = z.output<typeof backedUpFile>;

/** Written last: a folder without it is no complete backup. */
export const backupManifest = z.object({
  format: z.literal(1),
  /** The version of towhook that made the backup. */
  towhook: z.string(),
  /** The installation whose data it is: the snapshot may have those of others, which a restore leaves out. */
  installation: z.string(),
  /** The schema of the data in Redis; see docs/architecture.md, "Versions of stored data". */
  schema_version: z.number().int().min(1),
  /** Everything that was acknowledged before is in the backup; ISO 8601 UTC, Redis time. */
  taken_at: z.iso.datetime(),
  /** The number of the database in the snapshot of Redis. */
  database: z.number().int().min(0),
  /** The ids of the data keys that the snapshot needs; never a key. */
  data_keys: z.array(z.string()).default([]),
  files: z.array(backedUpFile),
});
export type BackupManifest = z.output<typeof backupManifest>;

/** The hash `backup` in Redis. */
export const backupRecord = z
  .object({
    begun_at: storedTimestampMs,
    begun: z.string().default(''),
    taken_at: storedTimestampMs,
    verified_at: storedTimestampMs,
  })
  .transform((stored) => ({
    /** When the last backup began. */
    begunAtMs: stored.begun_at,
    /** When the last backups began, Redis time in microseconds, which tells the backups of two installations apart. */
    begunAtUs: stored.begun === '' ? [] : stored.begun.split(',').map(Number),
    /** The time of the last verified backup, and when it was verified. */
    takenAtMs: stored.taken_at,
    verifiedAtMs: stored.verified_at,
  }));
export type BackupRecord = z.output<typeof backupRecord>;
