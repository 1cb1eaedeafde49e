import type { TowView } from '../contracts/operator';
import type { AuditEntry } from '../domain/audit';
import { versionNumber } from '../domain/outbox-record';
import { unknown, type Decision } from '../domain/refusal';
import { isKnown, type KnownTow } from '../domain/stored-tow';
import { done, refused, type Effect } from './effect';
import { towRecordOf } from './tow-record';
import { towViewOf } from './tow-view';
import { transactOnce } from './transact-once';
import { lineOfTow, type RecordStore, type Remember, type Transaction } from './transaction-port';

export interface TowRequest {
  readonly ref: string;
  readonly remember?: Remember | undefined;
}

type TowDecision = Decision<{ audit: AuditEntry }>;

export const noSuchTow = unknown('tow_not_found', 'There is no such tow.').refusal;

/**
 * Carries out what a person wants of a tow, at most once per Idempotency-Key: the change, its audit entry and its answer
 * go in one commit. `decide` changes the draft, or refuses and leaves it as it is. The answer is the changed tow.
 */
export function changeTow(
  records: RecordStore,
  { ref, remember }: TowRequest,
  decide: (tow: KnownTow, transaction: Transaction) => TowDecision | Promise<TowDecision>,
): Promise<Effect<TowView>> {
  return transactOnce<TowView>(records, { line: lineOfTow(ref), remember }, async (transaction) => {
    const draft = await transaction.tow(ref);
    if (!isKnown(draft)) return refused(noSuchTow);
    const decision = await decide(draft, transaction);
    if (!decision.ok) return refused(decision.refusal);
    transaction.audit(decision.audit);
    return done(viewAfter(draft, transaction.nowMs));
  });
}

/** The tow as it is once the draft is committed. */
function viewAfter(draft: KnownTow, nowMs: number): TowView {
  const record = towRecordOf({ ...draft, version: String(versionNumber(draft.version) + 1) }, nowMs);
  if (!record) throw new Error('a changed tow is known');
  return towViewOf(record);
}
