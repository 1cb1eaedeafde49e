import type { FoundViolation } from '../../domain/violation/stored-violation';
import type { StoredViolation } from '../../domain/outbox/outbox-record';
import { DamagedRecord, type UnusableRecord } from '../../domain/outbox/unusable-record';

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
