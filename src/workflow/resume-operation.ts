import { auditOf, type Actor } from '../domain/audit';
import { resumeOperation as resume } from '../domain/circuits';
import { conflict } from '../domain/refusal';
import type { PausableOperation } from '../domain/vocabulary';
import { done, refused, type Effect } from './effect';
import { transactOnce } from './transact-once';
import { LINE_OF_CIRCUITS, type RecordStore, type Remember } from './transaction-port';

export interface ResumeRequest {
  readonly operation: PausableOperation;
  readonly reason: string | undefined;
  readonly actor: Actor;
  readonly remember: Remember | undefined;
}

const notPaused = conflict('operation_not_paused', 'The operation is not paused.').refusal;

/** Ends the pause of an operation by hand, or refuses when it is not paused. */
export function resumeOperation(
  { records }: { records: RecordStore },
  { operation, reason, actor, remember }: ResumeRequest,
): Promise<Effect> {
  return transactOnce<null>(records, { line: LINE_OF_CIRCUITS, remember }, async (transaction) => {
    const circuits = await transaction.circuits({ isFresh: true });
    if (!resume(circuits, operation, transaction.circuitEffects)) return refused(notPaused);
    transaction.audit(auditOf(actor, 'operation.resumed', { on: { operation }, why: reason }));
    return done(null);
  });
}
