import { recordIdOf, recordNamed, type OutboxRecord, type RecordKind } from '../../domain/outbox/outbox-record';
import { budgetKey, KEYS, towKey, violationKey } from '../keys';
import type { Fields } from '../redis/packed-fields';
import type { RecordPart } from './record-parts';
import { decodeTow, partsOfTow } from '../tow/tow-fields';
import { decodeViolation, partsOfViolation } from '../violation/violation-fields';

/** Where tows and violations are stored, and how they are read and written. */

/** The keys of one kind of records. In its sorted sets a record is a member by its id. */
interface RecordKeys {
  record(id: string): string;
  /** All records, by the time at which they came. */
  readonly index: string;
  /** The schedule. */
  readonly due: string;
  /** The name of its rate limit, the permits granted for it, and the records that wait for one. */
  readonly budget: string;
  readonly permits: string;
  readonly permitQueue: string;
}

export const RECORD_KEYS = {
  tow: {
    record: towKey,
    index: KEYS.indexTows,
    due: KEYS.dueTows,
    budget: 'tow',
    permits: budgetKey('tow'),
    permitQueue: KEYS.permitQueueTows,
  },
  violation: {
    record: violationKey,
    index: KEYS.indexViolations,
    due: KEYS.dueViolations,
    budget: 'violations',
    permits: budgetKey('violations'),
    permitQueue: KEYS.permitQueueViolations,
  },
} as const satisfies Record<RecordKind, RecordKeys>;

/** The schedule of the record that a member of the sets of a circuit names, and its id there. */
export function scheduleOf(member: string): readonly [schedule: string, id: string] {
  const { kind, id } = recordNamed(member);
  return [RECORD_KEYS[kind].due, id];
}

/** The key of the hash of a record. */
export function keyOf(record: OutboxRecord): string {
  return RECORD_KEYS[record.kind].record(recordIdOf(record));
}

/** Null when there is no violation; a tow without a record is absent. Throws when it cannot be decoded. */
export function decodeRecord(kind: RecordKind, id: string, fields: Fields): OutboxRecord | null {
  return kind === 'tow' ? decodeTow(id, fields) : decodeViolation(fields);
}

/** The stored fields of a record; none for an unknown tow without parked invoices. */
export function partsOf(record: OutboxRecord): RecordPart[] {
  return record.kind === 'tow' ? partsOfTow(record) : partsOfViolation(record);
}
