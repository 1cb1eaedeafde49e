import {
  KNOWN_FIELDS,
  type KnownViolation,
  type KnownViolationsView,
} from '../../contracts/violation/known-violations';
import { auditOf, type Actor } from '../../domain/ops/audit';
import { DamagedRecord } from '../../domain/outbox/unusable-record';
import { invisibleWarnings, visibleForm } from '../../domain/format-warnings';
import type { StoredViolation } from '../../domain/outbox/outbox-record';
import { plateKey } from '../../domain/tow/plate';
import { keepAsKnown } from '../../domain/violation/stored-violation';
import { isoTimestamp, timestampMs } from '../../domain/timestamp';
import { metadataIdOf, type Violation } from '../../domain/violation/violation';
import type { ViolationApi } from '../../domain/vocabulary';
import type { Clock } from '../../platform/clock';
import { done, transactOnce, type ActionResult } from '../action-result';
import type { IdempotencyRecord, RecordStore, Transaction } from '../transaction-port';

interface KnownViolationTools {
  readonly records: RecordStore;
  readonly api: ViolationApi;
  readonly clock: Clock;
}

interface KnownViolationsRequest {
  readonly violations: readonly KnownViolation[];
  readonly actor: Actor;
  readonly idempotency: IdempotencyRecord | undefined;
}

/**
 * Stores violations that other software has reported, all in one commit. They are settled at once and never sent; the
 * cleanup that follows links tow requests that came before. A violation whose reference or metadata id is here already
 * changes nothing, so a repeated import adds each violation once; if its content is another, the result is `conflict`.
 */
export function addKnownViolations(
  tools: KnownViolationTools,
  { violations, actor, idempotency }: KnownViolationsRequest,
): Promise<ActionResult<KnownViolationsView>> {
  // No record exists yet that could give an order. The commit checks again which violations are known.
  return transactOnce(tools.records, { orderKey: null, idempotency }, async (transaction) => {
    const found = await Promise.all(violations.map((known) => namedBy(transaction, known)));
    const added = new Map<string, StoredViolation>();
    const items = violations.map((known, at) => {
      const names = namesOf(known);
      const same = found[at] ?? names.map((name) => added.get(name)).find((each) => each !== undefined);
      if (same) return resultOf(known, same);
      const violation = violationOf(known, actor, tools);
      const draft = transaction.createViolation(violation);
      for (const name of names) added.set(name, draft);
      keepAsKnown(draft, known.violation_reference_id ?? null, transaction.nowMs);
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

/** A violation that is here, or one that cannot be decoded, whose content is not known. */
type Named = StoredViolation | DamagedRecord;

/** The violation that has one of the names; null when none has. */
async function namedBy(
  transaction: Transaction,
  { violation_reference_id: reference, metadata_id: id }: KnownViolation,
): Promise<Named | null> {
  const [named, same] = await Promise.all([
    reference === undefined ? null : readOrDamaged(transaction.violationByReference(reference)),
    id === undefined ? null : readOrDamaged(transaction.violationById(id)),
  ]);
  return named ?? same;
}

async function readOrDamaged(reading: Promise<StoredViolation | null>): Promise<Named | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof DamagedRecord) return error;
    throw error;
  }
}

function resultOf(known: KnownViolation, same: Named): KnownViolationsView['items'][number] {
  if (same instanceof DamagedRecord) return { id: same.recordId, result: 'already_known' };
  const fields = differingFields(known, same);
  return fields.length === 0 ? { id: same.id, result: 'already_known' } : { id: same.id, result: 'conflict', fields };
}

/** The given fields that mean something else in the stored violation. A plate may be written in another way. */
function differingFields(given: KnownViolation, { references, violation }: StoredViolation): string[] {
  const { form } = violation;
  const msOf = (date: string | undefined) => (date === undefined ? null : (timestampMs(date) ?? date));
  const isSame: Readonly<Record<keyof KnownViolation, boolean>> = {
    violation_reference_id: references.some((reference) => reference === given.violation_reference_id),
    metadata_id: metadataIdOf(violation) === given.metadata_id,
    plateNumber: plateKey(form.plateNumber) === plateKey(given.plateNumber),
    location: form.location === given.location,
    latitude: form.latitude === given.latitude,
    longitude: form.longitude === given.longitude,
    plateType: form.plateType === given.plateType,
    zoneId: form.zoneId === given.zoneId,
    violationType: form.violationType === given.violationType,
    date: msOf(form.date) === msOf(given.date),
  };
  return KNOWN_FIELDS.filter((field) => given[field] !== undefined && !isSame[field]);
}

function violationOf(known: KnownViolation, actor: Actor, { api, clock }: KnownViolationTools): Violation {
  const { violation_reference_id: _, metadata_id: ownId, ...fields } = known;
  const id = clock.id();
  const metadata = { id: ownId ?? id };
  return {
    id,
    api,
    form: visibleForm({ ...fields, metadata }),
    metadataText: JSON.stringify(metadata),
    images: [],
    warnings: invisibleWarnings('plateNumber', known.plateNumber),
    createdAt: isoTimestamp(clock.nowMs()),
    by: actor.name,
  };
}
