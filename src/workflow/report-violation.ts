import type { ViolationInput } from '../contracts/violation-input';
import type { ViolationView } from '../contracts/violations';
import { auditOf, type Actor } from '../domain/audit';
import { formatWarnings } from '../domain/format-warnings';
import { conflict, type Refusal } from '../domain/refusal';
import { entryOf } from '../domain/stored-violation';
import { metadataIdOf, type Violation, type ViolationImage } from '../domain/violation';
import { metadataWithId } from '../domain/violation-metadata';
import type { ViolationApi } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import { done, refused, type Effect } from './effect';
import type { Wake } from './ports';
import type { Upload } from './spool-port';
import { transactOnce } from './transact-once';
import { lineOfViolation, type RecordStore, type Remember, type Transaction } from './transaction-port';
import { violationAfter } from './violation-record';
import { violationViewOf } from './violation-view';

export interface ReportTools {
  readonly records: RecordStore;
  readonly wake: Wake;
}

/** A violation as somebody reports it, with its images in the spool. */
export interface NewViolation {
  readonly form: ViolationInput;
  readonly images: readonly ViolationImage[];
  readonly actor: Actor;
}

export interface ReportRequest {
  readonly violation: Violation;
  readonly upload: Upload;
  readonly actor: Actor;
  readonly remember: Remember | undefined;
}

/** Everything about a new violation that is known before it is stored. */
export function newViolation(given: NewViolation, tools: { api: ViolationApi; clock: Clock }): Violation {
  const id = tools.clock.id();
  const nowMs = tools.clock.nowMs();
  const metadata = metadataWithId(given.form.metadata, id);
  const form = { ...given.form, metadata: metadata.value };
  const { api } = tools;
  return {
    id,
    api,
    form,
    metadataText: metadata.text,
    images: given.images,
    warnings: formatWarnings(form, { api, images: given.images.length, nowMs }),
    createdAt: new Date(nowMs).toISOString(),
    by: given.actor.name,
  };
}

/**
 * Keeps the images and stores the violation, which makes it due, or refuses and keeps nothing. When it rejects, the
 * violation may be stored or not; its images are there if it is.
 */
export async function reportViolation(tools: ReportTools, request: ReportRequest): Promise<Effect<ViolationView>> {
  const { violation, upload, actor, remember } = request;
  // Files first: a worker may send the violation the moment it is stored.
  await upload.keep({ kind: 'violation', id: violation.id });
  const line = lineOfViolation(violation.id);
  const effect = await transactOnce(tools.records, { line, remember }, async (transaction) => {
    const refusal = await refusalOfId(transaction, violation);
    if (refusal) return refused(refusal);
    const draft = transaction.createViolation(violation);
    transaction.audit(auditOf(actor, 'violation.reported', { on: { violation_id: violation.id } }));
    return done(violationViewOf(violationAfter(draft)));
  });
  if (effect.kind === 'done') tools.wake.violation(violation.id);
  else await upload.takeBack();
  return effect;
}

/** Why the id in its metadata may not be used; null when it may. A violation that was waived unsent leaves its id to the next. */
async function refusalOfId(transaction: Transaction, violation: Violation): Promise<Refusal | null> {
  const metadataId = metadataIdOf(violation);
  const holder = await transaction.violationCalled(metadataId);
  if (holder) {
    const { state, possibleEffects } = entryOf(holder);
    if (state !== 'waived' || holder.id === metadataId) return metadataIdTaken;
    if (possibleEffects > 0) return metadataIdOfWaived;
  }
  if (metadataId === violation.id) return null;
  return (await transaction.violationCalled(violation.id)) ? metadataIdTaken : null;
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
