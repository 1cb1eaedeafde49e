import type { ViolationView } from '../contracts/violations';
import type { Actor } from '../domain/audit';
import { decideViolation as decide, type ViolationCommand } from '../domain/decide-violation';
import { unknown } from '../domain/refusal';
import type { Clock } from '../platform/clock';
import { done, refused, type Effect } from './effect';
import type { Wake } from './ports';
import { transactOnce } from './transact-once';
import { lineOfViolation, type RecordStore, type Remember } from './transaction-port';
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
  const { id, command, actor, remember } = request;
  const effect = await transactOnce(tools.records, { line: lineOfViolation(id), remember }, async (transaction) => {
    const draft = await transaction.violationCalled(id);
    if (!draft) return refused(noSuchViolation);
    const reference = command.action === 'accept' ? command.reference : null;
    const owner = reference === null ? null : await transaction.violationNamed(reference);
    const context = { actor, clockMs: tools.clock.nowMs(), nowMs: transaction.nowMs, owner };
    const decision = decide(draft, command, context);
    if (!decision.ok) return refused(decision.refusal);
    if (reference !== null) transaction.nameViolation(reference, draft.id);
    transaction.audit(decision.audit);
    return done(violationViewOf(violationAfter(draft)));
  });
  if (effect.kind === 'done') tools.wake.violation(effect.value.id);
  return effect;
}
