import type { ViolationView } from '../contracts/violations';
import type { Actor } from '../domain/audit';
import { decideViolation as decide, type ViolationCommand } from '../domain/decide-violation';
import { unknown } from '../domain/refusal';
import type { Clock } from '../platform/clock';
import { refused, type Effect } from './effect';
import type { Wake } from './ports';
import { lineOfViolation, type RecordStore, type Remember, type Transaction } from './transaction-port';
import { violationAfter } from './violation-record';
import { violationViewOf } from './violation-view';

export type { ViolationCommand } from '../domain/decide-violation';

export interface DecideTools {
  readonly records: RecordStore;
  readonly wake: Wake;
  readonly clock: Clock;
}

export interface ViolationRequest {
  /** Our id of it, or the id in its metadata. */
  readonly id: string;
  readonly command: ViolationCommand;
  readonly actor: Actor;
  readonly remember?: Remember | undefined;
}

const noSuchViolation = unknown('violation_not_found', 'There is no such violation.').refusal;

/** Carries out a person's decision on one violation, or refuses and changes nothing. */
export async function decideViolation(tools: DecideTools, request: ViolationRequest): Promise<Effect<ViolationView>> {
  const { id } = request;
  const effect = await tools.records.transact(lineOfViolation(id), (transaction) =>
    decideIn(transaction, request, tools.clock.nowMs()),
  );
  if (effect.kind === 'done') tools.wake.violation(effect.value.id);
  return effect;
}

async function decideIn(
  transaction: Transaction,
  { id, command, actor, remember }: ViolationRequest,
  clockMs: number,
): Promise<Effect<ViolationView>> {
  const { nowMs } = transaction;
  const [fingerprint, draft] = await Promise.all([
    remember ? transaction.fingerprintOf(remember.scope) : null,
    transaction.violationCalled(id),
  ]);
  if (fingerprint !== null) return { kind: 'remembered', fingerprint };
  if (!draft) return refused(noSuchViolation);
  const reference = command.action === 'accept' ? command.reference : null;
  const owner = reference === null ? null : await transaction.violationNamed(reference);
  const decision = decide(draft, command, { actor, clockMs, nowMs, owner });
  if (!decision.ok) return refused(decision.refusal);
  if (reference !== null) transaction.nameViolation(reference, draft.id);
  transaction.audit(decision.audit);
  const value = violationViewOf(violationAfter(draft));
  transaction.remember(remember && { ...remember, answer: JSON.stringify(value) });
  return { kind: 'done', value };
}
