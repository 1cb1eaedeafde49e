import type { Refusal } from '../domain/refusal';
import type { IdempotencyRecord, Transaction } from './transaction-port';

/** The effect of a request of a person; `value` is its answer. */
export type ActionResult<T = null> =
  | { readonly kind: 'done'; readonly value: T }
  /** An earlier request with the same Idempotency-Key had the effect; this one has none. */
  | { readonly kind: 'repeated' }
  | Refused;

/** A rule forbids it; nothing was changed. */
export interface Refused {
  readonly kind: 'refused';
  readonly refusal: Refusal;
}

export function done<T>(value: T): ActionResult<T> {
  return { kind: 'done', value };
}

export function refused(refusal: Refusal): ActionResult<never> {
  return { kind: 'refused', refusal };
}

/**
 * Runs a decision at most once per Idempotency-Key. The commit of its changes also stores the key, and the value as
 * the answer; a null value stores none. A decision that refuses must leave its drafts unchanged. `loads` reads what the
 * decision will need, in the round trip of the key; the decision reads again what failed.
 */
export function transactOnce<T, X extends Transaction = Transaction>(
  records: { transact<R>(orderKey: string | null, decide: (transaction: X) => Promise<R>): Promise<R> },
  {
    orderKey,
    idempotency,
    loads,
  }: {
    /** See `RecordStore.transact`. */
    readonly orderKey: string | null;
    readonly idempotency: IdempotencyRecord | undefined;
    readonly loads?: (transaction: X) => Promise<unknown>;
  },
  decide: (transaction: X) => Promise<ActionResult<T>>,
): Promise<ActionResult<T>> {
  return records.transact<ActionResult<T>>(orderKey, async (transaction) => {
    const [isFirst] = idempotency
      ? await Promise.all([transaction.isFirst(idempotency), loads?.(transaction).catch(() => null)])
      : [true];
    if (!isFirst) return { kind: 'repeated' };
    const effect = await decide(transaction);
    if (effect.kind !== 'done') return effect;
    if (idempotency) {
      transaction.storeIdempotency(idempotency, effect.value === null ? undefined : JSON.stringify(effect.value));
    }
    return effect;
  });
}
