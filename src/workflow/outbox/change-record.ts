import type { TowView } from '../../contracts/operator';
import type { ViolationView } from '../../contracts/violation/violations';
import type { AuditEntry } from '../../domain/ops/audit';
import type { OutboxRecord, StoredViolation } from '../../domain/outbox/outbox-record';
import { DamagedRecord, UnusableRecord } from '../../domain/outbox/unusable-record';
import { unknown, type Decision, type FieldRule, type Refusal } from '../../domain/refusal';
import { isKnown, type KnownTow } from '../../domain/tow/stored-tow';
import { done, type ActionResult, refused, transactOnce } from '../action-result';
import { towViewOf, violationViewOf } from '../tow/views';
import { orderKeyOf, type RecordStore, type IdempotencyRecord, type Transaction } from '../transaction-port';
import { asReadNext, type AsRead, readOr } from './read-record';
import type { SpoolPlace, Upload } from '../ops/spool-port';

/** Changes of a tow or violation by a person. */

export interface TowRequest {
  readonly ref: string;
  readonly idempotency?: IdempotencyRecord | undefined;
}

export interface ViolationRequest {
  /** Its id, or the id in its metadata. */
  readonly id: string;
  readonly idempotency?: IdempotencyRecord | undefined;
}

/** Changes the draft, or refuses and leaves it unchanged. */
type RecordDecision<R> = (
  draft: R,
  transaction: Transaction,
) => Decision<{ audit: AuditEntry }> | Promise<Decision<{ audit: AuditEntry }>>;

export const noSuchTow = unknown('tow_not_found', 'There is no such tow.').refusal;
export const noSuchViolation = unknown('violation_not_found', 'There is no such violation.').refusal;

/** Changes a tow; see `changeRecord`. */
export function changeTow(
  records: RecordStore,
  { ref, idempotency }: TowRequest,
  decide: RecordDecision<KnownTow>,
): Promise<ActionResult<TowView>> {
  const load = async (transaction: Transaction) => {
    // A fact needs the circuits too.
    const [draft] = await Promise.all([transaction.tow(ref), transaction.preloadCircuits()]);
    return isKnown(draft) ? draft : null;
  };
  const kind = { load, missing: noSuchTow, viewOf: towViewOf };
  return changeRecord(records, { orderKey: orderKeyOf('tow', ref), idempotency, ...kind }, decide);
}

/**
 * Changes a violation; see `changeRecord`. Two changes that name it by different ids have no order; its version keeps them
 * apart.
 */
export function changeViolation(
  records: RecordStore,
  { id, idempotency }: ViolationRequest,
  decide: RecordDecision<StoredViolation>,
): Promise<ActionResult<ViolationView>> {
  const load = (transaction: Transaction) => transaction.violationById(id);
  const kind = { load, missing: noSuchViolation, viewOf: violationViewOf };
  return changeRecord(records, { orderKey: orderKeyOf('violation', id), idempotency, ...kind }, decide);
}

/**
 * Changes a record at most once per Idempotency-Key. The change, its audit entry and its answer, which is the changed
 * record, are one commit.
 */
function changeRecord<R extends OutboxRecord, V>(
  records: RecordStore,
  {
    orderKey,
    idempotency,
    load,
    missing,
    viewOf,
  }: {
    readonly orderKey: string;
    readonly idempotency: IdempotencyRecord | undefined;
    readonly load: (transaction: Transaction) => Promise<R | null>;
    readonly missing: Refusal;
    readonly viewOf: (record: AsRead<R>) => V;
  },
  decide: RecordDecision<R>,
): Promise<ActionResult<V>> {
  return transactOnce(records, { orderKey, idempotency, loads: load }, async (transaction) => {
    const draft = await load(transaction);
    if (!draft) return refused(missing);
    const decision = await decide(draft, transaction);
    if (!decision.ok) return refused(decision.refusal);
    transaction.audit(decision.audit);
    return done(viewOf(asReadNext(draft, transaction.nowMs)));
  });
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

/**
 * Keeps the files of an upload and makes the change whose record names them. Removes the files when the change is refused
 * or its commit was not written. When it is uncertain whether the commit was written, it rejects and the files stay.
 */
export async function changeWithFiles<T>(
  records: Pick<RecordStore, 'isUnwritten'>,
  { upload, place }: { readonly upload: Upload; readonly place: SpoolPlace },
  change: () => Promise<ActionResult<T>>,
): Promise<ActionResult<T>> {
  // Files first: once the record is stored, a worker may send them and a page may show them.
  await upload.keep(place);
  try {
    const effect = await change();
    if (effect.kind !== 'done') await upload.takeBack();
    return effect;
  } catch (error) {
    if (records.isUnwritten(error)) await upload.takeBack();
    throw error;
  }
}
