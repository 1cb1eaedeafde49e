import type { ViolationView } from '../contracts/violations';
import type { Actor } from '../domain/audit';
import { decideViolation as decide, type ViolationCommand } from '../domain/decide-violation';
import { foundViolation, isOfAnother } from '../domain/found-violation';
import { unknown } from '../domain/refusal';
import type { Clock } from '../platform/clock';
import { done, type ActionResult, refused, transactOnce } from './action-result';
import type { ViolationStore } from './ports';
import { changeWithFiles } from './change-with-files';
import type { Upload } from './spool-port';
import { orderKeyOfViolation, type RecordStore, type IdempotencyRecord } from './transaction-port';
import { violationAfter } from './read-models';
import { violationViewOf } from './views';

export type { ViolationCommand } from '../domain/decide-violation';

export interface DecideTools {
  readonly records: RecordStore;
  readonly clock: Clock;
}

export interface ViolationRequest {
  /** Its id, or the id in its metadata. */
  readonly id: string;
  readonly command: ViolationCommand;
  readonly actor: Actor;
  readonly idempotency?: IdempotencyRecord | undefined;
}

export const noSuchViolation = unknown('violation_not_found', 'There is no such violation.').refusal;

export interface ImagesRequest extends Omit<ViolationRequest, 'command'> {
  /** Corrected fields beside the images. */
  readonly command: Extract<ViolationCommand, { readonly action: 'correct' }>;
  readonly upload: Upload;
}

/** Corrects a violation with other images, or refuses and keeps none of them. */
export async function replaceImages(
  tools: DecideTools & { readonly violations: Pick<ViolationStore, 'read'> },
  request: ImagesRequest,
): Promise<ActionResult<ViolationView>> {
  const record = await tools.violations.read(request.id);
  if (!record) return refused(noSuchViolation);
  const { id } = record.violation;
  // By its own id: another violation may take the id in its metadata meanwhile, and the files are kept for this one.
  const decideOnFound = () => decideViolation(tools, { ...request, id });
  return changeWithFiles(tools.records, { upload: request.upload, place: { kind: 'violation', id } }, decideOnFound);
}

/** Carries out a person's decision on one violation, or refuses and changes nothing. */
export function decideViolation(tools: DecideTools, request: ViolationRequest): Promise<ActionResult<ViolationView>> {
  const { id, command, actor, idempotency } = request;
  return transactOnce(tools.records, { orderKey: orderKeyOfViolation(id), idempotency }, async (transaction) => {
    const draft = await transaction.violationById(id);
    if (!draft) return refused(noSuchViolation);
    const reference = command.action === 'accept' ? command.reference : null;
    const owner = reference === null ? null : await foundViolation(transaction.violationByReference(reference));
    const isTaken = isOfAnother(owner, draft.id);
    const context = { actor, clockMs: tools.clock.nowMs(), nowMs: transaction.nowMs, isTaken };
    const decision = decide(draft, command, context);
    if (!decision.ok) return refused(decision.refusal);
    if (reference !== null) transaction.setReferenceOwner(reference, draft.id);
    transaction.audit(decision.audit);
    return done(violationViewOf(violationAfter(draft)));
  });
}
