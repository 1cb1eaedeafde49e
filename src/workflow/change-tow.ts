import type { TowView } from '../contracts/operator';
import type { AuditEntry } from '../domain/audit';
import { versionNumber } from '../domain/outbox-record';
import { unknown, type Decision } from '../domain/refusal';
import { isKnown, type KnownTow } from '../domain/stored-tow';
import { refused, type Effect } from './effect';
import { towRecordOf } from './tow-record';
import { towViewOf } from './tow-view';
import { lineOfTow, type RecordStore, type Remember, type Transaction } from './transaction-port';

export interface TowRequest {
  readonly ref: string;
  readonly remember?: Remember | undefined;
}

export const noSuchTow = unknown('tow_not_found', 'There is no such tow.').refusal;

/**
 * Carries out what a person wants of a tow, at most once per Idempotency-Key: the change, its audit entry and its answer
 * go in one commit. `decide` changes the draft, or refuses and leaves it as it is. The answer is the changed tow.
 */
export function changeTow(
  records: RecordStore,
  { ref, remember }: TowRequest,
  decide: (
    tow: KnownTow,
    transaction: Transaction,
  ) => Decision<{ audit: AuditEntry }> | Promise<Decision<{ audit: AuditEntry }>>,
): Promise<Effect<TowView>> {
  return records.transact<Effect<TowView>>(lineOfTow(ref), async (transaction) => {
    const [fingerprint, draft] = await Promise.all([
      remember ? transaction.fingerprintOf(remember.scope) : null,
      transaction.tow(ref),
    ]);
    if (fingerprint !== null) return { kind: 'remembered', fingerprint };
    if (!isKnown(draft)) return refused(noSuchTow);
    const decision = await decide(draft, transaction);
    if (!decision.ok) return refused(decision.refusal);
    transaction.audit(decision.audit);
    const value = viewAfter(draft, transaction.nowMs);
    transaction.remember(remember && { ...remember, answer: JSON.stringify(value) });
    return { kind: 'done', value };
  });
}

/** The tow as it is once the draft is committed. */
function viewAfter(draft: KnownTow, nowMs: number): TowView {
  const record = towRecordOf({ ...draft, version: String(versionNumber(draft.version) + 1) }, nowMs);
  if (!record) throw new Error('a changed tow is known');
  return towViewOf(record);
}
