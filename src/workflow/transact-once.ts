import type { Effect } from './effect';
import type { RecordStore, Remember, Transaction } from './transaction-port';

/**
 * Makes a decision of a person, at most once per Idempotency-Key: the commit of its changes remembers the key, and the value
 * as the answer. A null value is no answer: that is read later. A decision that refuses leaves its drafts as they are.
 */
export function transactOnce<T>(
  records: RecordStore,
  { line, remember }: { readonly line: string; readonly remember: Remember | undefined },
  decide: (transaction: Transaction) => Promise<Effect<T>>,
): Promise<Effect<T>> {
  return records.transact<Effect<T>>(line, async (transaction) => {
    const fingerprint = remember ? await transaction.fingerprintOf(remember.scope) : null;
    if (fingerprint !== null) return { kind: 'remembered', fingerprint };
    const effect = await decide(transaction);
    if (effect.kind !== 'done') return effect;
    const answer = effect.value === null ? {} : { answer: JSON.stringify(effect.value) };
    transaction.remember(remember && { ...remember, ...answer });
    return effect;
  });
}
