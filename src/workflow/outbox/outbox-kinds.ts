import { sharedReferenceTask } from '../../domain/ops/tasks';
import type { AttemptResult } from '../../domain/outbox/attempt';
import { DamagedRecord, UnusableRecord } from '../../domain/outbox/unusable-record';
import { openTask, type OutboxRecord, type StoredTow, type StoredViolation } from '../../domain/outbox/outbox-record';
import { dropReference, isOfAnother, addReference } from '../../domain/violation/stored-violation';
import { towMover } from '../violation/match-violation';
import { readOr } from './read-record';
import type { Transaction } from '../transaction-port';

/** The differences between the kinds of records with an outbox. */
export interface OutboxKind<R extends OutboxRecord> {
  readonly name: R['kind'];
  /** A draft; null when there is no record. */
  load(transaction: Transaction, id: string): Promise<R | null>;
  /** Prepares how an accepted answer changes the record, and other records with it. */
  answerKeeper(
    transaction: Transaction,
    attempted: { readonly record: R; readonly result: AttemptResult },
  ): Promise<() => void>;
}

export const TOWS: OutboxKind<StoredTow> = {
  name: 'tow',
  async load(transaction, ref) {
    const record = await transaction.tow(ref);
    return record.tow ? record : null;
  },
  answerKeeper: () => Promise.resolve(() => {}),
};

export const VIOLATIONS: OutboxKind<StoredViolation> = {
  name: 'violation',
  load: (transaction, id) => transaction.violation(id),
  async answerKeeper(transaction, { record, result: { acceptedViolation, verdict } }) {
    if (!acceptedViolation || verdict.next !== 'accepted') return () => {};
    const { reference, serviceStatus, canTow } = acceptedViolation;
    // An owner that this process cannot use keeps the reference. The answer is stored.
    const owner = await readOr(transaction.violationByReference(reference), 'damaged', UnusableRecord, DamagedRecord);
    const other = isOfAnother(owner, record.id) ? owner : null;
    const isUsable = other !== null && other !== 'damaged';
    const moveTows = isUsable ? await towMover(transaction, { reference, from: other, to: record }) : () => {};
    return () => {
      // An answer that breaks its contract has only its reference.
      record.serviceStatus = serviceStatus ?? record.serviceStatus;
      record.canTow = canTow ?? record.canTow;
      if (dropReference(other, reference, transaction.nowMs)) {
        transaction.setReferenceOwner(reference, record.id);
        moveTows();
      } else if (isUsable) {
        openTask(record, sharedReferenceTask({ id: record.id, otherId: other.id, reference }), transaction.nowMs);
      }
      addReference(record, reference, { isAssigned: true, isMain: true });
    };
  },
};
