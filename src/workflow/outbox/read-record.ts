import { task, type Task } from '../../contracts/outbox/records';
import { asShown } from '../../domain/outbox/withheld';
import { versionNumber, type OutboxRecord, type StoredViolation } from '../../domain/outbox/outbox-record';
import type { QueuePlace } from '../../domain/outbox/waiting';
import { isoTimestamp } from '../../domain/timestamp';
import type { FoundViolation } from '../../domain/violation/stored-violation';
import { DamagedRecord, type UnusableRecord } from '../../domain/outbox/unusable-record';

/** Reads of tows and violations. Lists and pages read stored records, with entries as people see them. */

export type AsRead<R extends OutboxRecord> = R & {
  /** Redis time of the read, ms. */
  readonly readAtMs: number;
  /** The place of its head among those that wait for the rate limit; null when it does not wait, or for a draft. */
  readonly queue: QueuePlace | null;
};

export function asRead<R extends OutboxRecord>(
  record: R,
  readAtMs: number,
  queue: QueuePlace | null = null,
): AsRead<R> {
  const read = { ...record, readAtMs, queue };
  read.entries = record.entries.map((entry) => asShown(entry, record.withheld));
  return read;
}

/** A changed draft as it will be read once it is committed. */
export function asReadNext<R extends OutboxRecord>(draft: R, nowMs: number): AsRead<R> {
  const read = asRead(draft, nowMs);
  read.version = `${versionNumber(draft.version) + 1}`;
  return read;
}

/** The open tasks of a record. */
export function tasksOf(record: OutboxRecord): Task[] {
  const about = record.kind === 'tow' ? { towing_reference_id: record.ref } : {};
  return Object.entries(record.tasks).map(([id, open]) => ({
    ...task.parse({ id, ...open.task, type: open.task.type.toString(), ...about }),
    opened_at: isoTimestamp(open.openedAtMs),
  }));
}

/** Resolves with `instead` when the read fails because of one of these; rejects on any other error. */
export async function readOr<T, const F>(
  reading: Promise<T>,
  instead: F,
  ...because: readonly (typeof UnusableRecord | typeof DamagedRecord)[]
): Promise<T | F> {
  return reading.catch((error: unknown) => {
    if (because.some((kind) => error instanceof kind)) return instead;
    throw error;
  });
}

/** What a read of a violation found. Rejects on any other error than that of a damaged record. */
export function foundViolation(reading: Promise<StoredViolation | null>): Promise<FoundViolation> {
  return readOr(reading, 'damaged', DamagedRecord);
}
