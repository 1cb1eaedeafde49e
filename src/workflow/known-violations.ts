import type { KnownViolation, KnownViolationsView } from '../contracts/known-violations';
import { auditOf, type Actor } from '../domain/audit';
import { DamagedRecord } from '../domain/unusable-record';
import type { StoredViolation } from '../domain/outbox-record';
import { keepAsKnown } from '../domain/stored-violation';
import { isoTimestamp } from '../domain/timestamp';
import type { Violation } from '../domain/violation';
import type { ViolationApi } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import { done, transactOnce, type ActionResult } from './action-result';
import type { IdempotencyRecord, RecordStore, Transaction } from './transaction-port';

export interface KnownViolationTools {
  readonly records: RecordStore;
  readonly api: ViolationApi;
  readonly clock: Clock;
}

export interface KnownViolationsRequest {
  readonly violations: readonly KnownViolation[];
  readonly actor: Actor;
  readonly idempotency: IdempotencyRecord | undefined;
}

/**
 * Stores violations that other software has reported, all in one commit. They are settled at once and never sent; the
 * cleanup that follows links tow requests that came before. A violation whose reference or metadata id is here already
 * changes nothing, so a repeated import adds each violation once.
 */
export function addKnownViolations(
  tools: KnownViolationTools,
  { violations, actor, idempotency }: KnownViolationsRequest,
): Promise<ActionResult<KnownViolationsView>> {
  // No record exists yet that could give an order. The commit checks again which violations are known.
  return transactOnce(tools.records, { orderKey: null, idempotency }, async (transaction) => {
    const found = await Promise.all(violations.map((known) => idOfKnown(transaction, known)));
    const added = new Map<string, string>();
    const items = violations.map((known, at) => {
      const names = namesOf(known);
      const id = found[at] ?? names.map((name) => added.get(name)).find((each) => each !== undefined);
      if (id !== undefined) return { id, result: 'already_known' as const };
      const violation = violationOf(known, actor, tools);
      for (const name of names) added.set(name, violation.id);
      keepAsKnown(transaction.createViolation(violation), known.violation_reference_id ?? null, transaction.nowMs);
      if (known.violation_reference_id !== undefined) {
        transaction.setReferenceOwner(known.violation_reference_id, violation.id);
      }
      return { id: violation.id, result: 'created' as const };
    });
    const created = items.filter(({ result }) => result === 'created').length;
    if (created > 0) {
      transaction.audit(auditOf(actor, 'violation.known_added', { on: {}, what: { violation_count: created } }));
    }
    return done({ items });
  });
}

/** The names under which a tow request may refer to it. References and ids may be equal and mean different things. */
function namesOf({ violation_reference_id: reference, metadata_id: id }: KnownViolation): string[] {
  return [...(reference === undefined ? [] : [`reference ${reference}`]), ...(id === undefined ? [] : [`id ${id}`])];
}

/** The id of the violation that has one of the names; undefined when none has. */
async function idOfKnown(
  transaction: Transaction,
  { violation_reference_id: reference, metadata_id: id }: KnownViolation,
): Promise<string | undefined> {
  const [named, same] = await Promise.all([
    reference === undefined ? undefined : idOf(transaction.violationByReference(reference)),
    id === undefined ? undefined : idOf(transaction.violationById(id)),
  ]);
  return named ?? same;
}

/** A violation that cannot be decoded is known too. */
async function idOf(reading: Promise<StoredViolation | null>): Promise<string | undefined> {
  try {
    return (await reading)?.id;
  } catch (error) {
    if (error instanceof DamagedRecord) return error.recordId;
    throw error;
  }
}

function violationOf(known: KnownViolation, actor: Actor, { api, clock }: KnownViolationTools): Violation {
  const { violation_reference_id: _, metadata_id: ownId, ...fields } = known;
  const id = clock.id();
  const metadata = { id: ownId ?? id };
  return {
    id,
    api,
    form: { ...fields, metadata },
    metadataText: JSON.stringify(metadata),
    images: [],
    warnings: [],
    createdAt: isoTimestamp(clock.nowMs()),
    by: actor.name,
  };
}
