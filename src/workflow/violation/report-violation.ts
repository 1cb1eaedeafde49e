import type { ViolationInput } from '../../contracts/violation/violation-input';
import type { ViolationView } from '../../contracts/violation/violations';
import { auditOf, damagedAmong, type Actor } from '../../domain/ops/audit';
import { formatWarnings, visibleForm } from '../../domain/format-warnings';
import { conflict, type Refusal } from '../../domain/refusal';
import { entryOf } from '../../domain/violation/stored-violation';
import { isoTimestamp } from '../../domain/timestamp';
import {
  damagedNumbers,
  metadataIdOf,
  metadataWithId,
  type Violation,
  type ViolationImage,
} from '../../domain/violation/violation';
import type { ViolationApi } from '../../domain/vocabulary';
import type { Clock } from '../../platform/clock';
import { done, type ActionResult, refused, transactOnce } from '../action-result';
import { changeWithFiles } from '../outbox/change-record';
import { holdUnlessLive } from '../outbox/service-mode';
import type { Upload } from '../ops/spool-port';
import { orderKeyOf, type RecordStore, type IdempotencyRecord, type Transaction } from '../transaction-port';
import { asReadNext } from '../outbox/read-record';
import { violationViewOf } from '../tow/views';

interface ReportViolationTools {
  readonly records: RecordStore;
}

/** A violation to report, with its images in the spool. */
interface ViolationReport {
  readonly form: ViolationInput;
  readonly images: readonly ViolationImage[];
  readonly actor: Actor;
}

interface ReportViolationRequest {
  readonly violation: Violation;
  readonly upload: Upload;
  readonly actor: Actor;
  readonly idempotency: IdempotencyRecord | undefined;
}

/** Returns a new violation that is not stored yet. */
export function newViolation(given: ViolationReport, tools: { api: ViolationApi; clock: Clock }): Violation {
  const id = tools.clock.id();
  const nowMs = tools.clock.nowMs();
  const metadata = metadataWithId(given.form.metadata, id);
  const entered = { ...given.form, metadata: metadata.value };
  const { api } = tools;
  const { images } = given;
  return {
    id,
    api,
    form: visibleForm(entered),
    metadataText: metadata.text,
    images,
    warnings: formatWarnings(entered, { api, images: images.length, damaged: damagedNumbers(images), nowMs }),
    createdAt: isoTimestamp(nowMs),
    by: given.actor.name,
  };
}

/**
 * Keeps the images and stores the violation, which is due at once; or refuses and keeps nothing. When it rejects, the
 * violation may be stored or not. Its images are kept unless it is certain that it is not.
 */
export async function reportViolation(
  tools: ReportViolationTools,
  request: ReportViolationRequest,
): Promise<ActionResult<ViolationView>> {
  const { violation, upload, actor, idempotency } = request;
  const orderKey = orderKeyOf('violation', violation.id);
  const store = () =>
    transactOnce(tools.records, { orderKey, idempotency }, async (transaction) => {
      const refusal = await refusalOfId(transaction, violation);
      if (refusal) return refused(refusal);
      const draft = transaction.createViolation(violation);
      await holdUnlessLive(transaction, draft);
      const act = { on: { violation_id: violation.id }, what: damagedAmong(violation.images) };
      transaction.audit(auditOf(actor, 'violation.reported', act));
      return done(violationViewOf(asReadNext(draft, transaction.nowMs)));
    });
  return changeWithFiles(tools.records, { upload, place: { kind: 'violation', id: violation.id } }, store);
}

/**
 * The refusal of an id in the metadata that is in use; null when it is free. A violation that was waived unsent
 * releases its id.
 */
async function refusalOfId(transaction: Transaction, violation: Violation): Promise<Refusal | null> {
  const metadataId = metadataIdOf(violation);
  const holder = await transaction.violationById(metadataId);
  if (holder) {
    const { state, possibleEffects } = entryOf(holder);
    if (state !== 'waived' || holder.id === metadataId) return metadataIdTaken;
    if (possibleEffects > 0) return metadataIdOfWaived;
  }
  if (metadataId === violation.id) return null;
  return (await transaction.violationById(violation.id)) ? metadataIdTaken : null;
}

const USED_ALREADY = [{ field: 'metadata.id', rule: 'must not be that of another violation' }];

const metadataIdTaken = conflict(
  'metadata_id_taken',
  'Another violation that is still here has this metadata.id; each needs its own.',
  USED_ALREADY,
).refusal;

const metadataIdOfWaived = conflict(
  'metadata_id_taken',
  'A waived violation that is still here has this metadata.id, and it may have been sent: the service may know it by this id. Use another one.',
  USED_ALREADY,
).refusal;
