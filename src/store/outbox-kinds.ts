import type { OutboxRecord, StoredTow, StoredViolation } from '../domain/outbox-record';
import type { AttemptResult } from '../domain/settle-attempt';
import { addReference, dropReference } from '../domain/violation-names';
import { KEYS } from './keys';
import type { Transaction } from './transaction';

/** What differs between the records that have an outbox, for the store. */
export interface OutboxKind<R extends OutboxRecord> {
  readonly name: R['kind'];
  /** The key of its schedule. */
  readonly schedule: string;
  /** A draft; null when there is none. */
  load(transaction: Transaction, id: string): Promise<R | null>;
  /** Prepares how the record keeps what an accepted answer says beyond its entry; other records may have to change with it. */
  answerKeeper(
    transaction: Transaction,
    attempted: { readonly record: R; readonly result: AttemptResult },
  ): Promise<() => void>;
}

export const TOWS: OutboxKind<StoredTow> = {
  name: 'tow',
  schedule: KEYS.dueTows,
  async load(transaction, ref) {
    const record = await transaction.tow(ref);
    return record.tow ? record : null;
  },
  answerKeeper: () => Promise.resolve(() => {}),
};

export const VIOLATIONS: OutboxKind<StoredViolation> = {
  name: 'violation',
  schedule: KEYS.dueViolations,
  load: (transaction, id) => transaction.violation(id),
  async answerKeeper(transaction, { record, result: { named, verdict } }) {
    if (!named || verdict.next !== 'accepted') return () => {};
    const { reference, serviceStatus, canTow } = named;
    const owner = await transaction.violationNamed(reference);
    return () => {
      Object.assign(record, { serviceStatus, canTow });
      const isOthers = owner !== null && owner.id !== record.id;
      if (!isOthers || dropReference(owner, reference)) {
        transaction.nameViolation(reference, record.id);
      }
      addReference(record, reference, { isTold: true, isMain: true });
    };
  },
};
