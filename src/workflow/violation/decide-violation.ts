import type { ViolationView } from '../../contracts/violation/violations';
import type { Actor } from '../../domain/ops/audit';
import { decideViolation as decide, type ViolationCommand } from '../../domain/violation/decide-violation';
import { isOfAnother } from '../../domain/violation/stored-violation';
import type { Clock } from '../../platform/clock';
import { refused, type ActionResult } from '../action-result';
import { changeViolation, noSuchViolation, type ViolationRequest } from './change-violation';
import type { ViolationStore } from '../ports';
import { changeWithFiles } from './change-with-files';
import { correctMatchedTows } from './match-violation';
import { foundViolation } from '../outbox/read-or';
import type { Upload } from '../ops/spool-port';
import type { RecordStore } from '../transaction-port';

export interface DecideTools {
  readonly records: RecordStore;
  readonly clock: Clock;
}

export interface ViolationDecisionRequest extends ViolationRequest {
  readonly command: ViolationCommand;
  readonly actor: Actor;
}

export interface ImagesRequest extends Omit<ViolationDecisionRequest, 'command'> {
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
export function decideViolation(
  tools: DecideTools,
  request: ViolationDecisionRequest,
): Promise<ActionResult<ViolationView>> {
  const { command, actor } = request;
  return changeViolation(tools.records, request, async (draft, transaction) => {
    const reference = command.action === 'accept' ? command.reference : null;
    const owner = reference === null ? null : await foundViolation(transaction.violationByReference(reference));
    const isTaken = isOfAnother(owner, draft.id);
    const context = { actor, clockMs: tools.clock.nowMs(), nowMs: transaction.nowMs, isTaken };
    const decision = decide(draft, command, context);
    if (decision.ok && reference !== null) transaction.setReferenceOwner(reference, draft.id);
    if (decision.ok && command.action === 'correct') await correctMatchedTows(transaction, draft);
    return decision;
  });
}
