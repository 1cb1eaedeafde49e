import type { TowView } from '../../contracts/operator';
import type { AuditEntry } from '../../domain/ops/audit';
import { DamagedRecord, UnusableRecord } from '../../domain/outbox/unusable-record';
import { unknown, type Decision, type FieldRule } from '../../domain/refusal';
import { isKnown, type KnownTow } from '../../domain/tow/stored-tow';
import { done, type ActionResult, refused, transactOnce } from '../action-result';
import { asReadNext } from '../outbox/read-record';
import { readOr } from '../outbox/read-or';
import { towViewOf } from './views';
import { orderKeyOf, type RecordStore, type IdempotencyRecord, type Transaction } from '../transaction-port';

export interface TowRequest {
  readonly ref: string;
  readonly idempotency?: IdempotencyRecord | undefined;
}

type TowDecision = Decision<{ audit: AuditEntry }>;

export const noSuchTow = unknown('tow_not_found', 'There is no such tow.').refusal;

/**
 * Changes a tow at most once per Idempotency-Key. The change, its audit entry and its answer are one commit. `decide` changes
 * the draft, or refuses and leaves it unchanged. The answer is the changed tow.
 */
export function changeTow(
  records: RecordStore,
  { ref, idempotency }: TowRequest,
  decide: (tow: KnownTow, transaction: Transaction) => TowDecision | Promise<TowDecision>,
): Promise<ActionResult<TowView>> {
  const loads = (transaction: Transaction) => transaction.tow(ref);
  return transactOnce<TowView>(
    records,
    { orderKey: orderKeyOf('tow', ref), idempotency, loads },
    async (transaction) => {
      const draft = await transaction.tow(ref);
      if (!isKnown(draft)) return refused(noSuchTow);
      const decision = await decide(draft, transaction);
      if (!decision.ok) return refused(decision.refusal);
      transaction.audit(decision.audit);
      return done(towViewOf(asReadNext(draft, transaction.nowMs)));
    },
  );
}

/**
 * The failing fields for which `decide` refuses a change of a tow; empty if the tow is unknown or cannot be used, or if
 * the change is refused for another reason or not at all. Changes nothing: `decide` gets a copy of the tow.
 */
export function fieldFaults(
  records: RecordStore,
  ref: string,
  decide: (tow: KnownTow, nowMs: number) => Decision<object>,
): Promise<readonly FieldRule[]> {
  return records.transact(orderKeyOf('tow', ref), async (transaction) => {
    const draft = await readOr(transaction.tow(ref), null, UnusableRecord, DamagedRecord);
    if (!draft || !isKnown(draft)) return [];
    const decision = decide(structuredClone(draft), transaction.nowMs);
    return decision.ok || decision.refusal.kind !== 'invalid' ? [] : decision.refusal.details;
  });
}
