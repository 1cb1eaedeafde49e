import type { WebhookReaders } from '../../contracts/webhook/read-webhook';
import { RUN_ROLES, type RunDocument, type RunResult, type RunTarget } from '../../contracts/ops/runs';
import type { Actor } from '../../domain/ops/audit';
import { roleAllows } from '../../domain/vocabulary';
import type { ActionResult } from '../action-result';
import { decideReport } from '../outbox/decide';
import { decideViolation } from '../outbox/decide';
import { questionOf } from '../outbox/decision-call';
import { replayDelivery } from '../ops/ops-actions';
import type { TaskStore } from '../ports';
import type { FactTools } from '../tow/record-fact';
import { resolveTask } from '../ops/ops-actions';
import type { RunItemPlace } from '../transaction-port';

/** The action of a run on one of its items. The commit of its effect stores that the item is done. */

export interface RunItemTools {
  readonly facts: FactTools;
  readonly tasks: Pick<TaskStore, 'read' | 'isStored'>;
  readonly readers: WebhookReaders;
  /** The person with this id, with their role of now; null once their API key was revoked. */
  readonly holder: (actor: Actor) => Promise<Actor | null>;
}

interface Item {
  readonly document: RunDocument;
  readonly startedBy: Actor;
  readonly place: RunItemPlace;
  readonly target: RunTarget;
}

/** What became of an item: `stored` with its effect, a result that is to be stored, or nothing yet. */
export type ItemOutcome = 'stored' | 'later' | RunResult;

export const GONE: RunResult = {
  outcome: 'gone',
  code: 'asked_no_more',
  message: 'It is gone, or has changed since it was chosen.',
};
export const NOT_DECIDED: RunResult = {
  outcome: 'refused',
  code: 'not_decided',
  message: 'The action failed. Open the item and decide on it there.',
};

/** Refusals that pass within seconds: a call of the same record is being made. */
const IN_FLIGHT: readonly string[] = ['report_in_flight', 'violation_in_flight'];

/** Carries out the action on an item that has no result. May be repeated: it takes effect once. */
export async function carryOutItem(tools: RunItemTools, item: Item): Promise<ItemOutcome> {
  const { document, target, startedBy } = item;
  const actor = await tools.holder(startedBy);
  const role = RUN_ROLES[document.action];
  if (!actor || !roleAllows(actor.role, role)) {
    return { outcome: 'refused', code: 'role_not_allowed', message: `${startedBy.name} lacks the role ${role} now.` };
  }
  if (document.action !== 'replay') {
    const task = await tools.tasks.read(target.id);
    // One of a later version, or under a data key that this worker reads later.
    if (task === null && (await tools.tasks.isStored(target.id))) return 'later';
    if (task === null || questionOf(task) !== target.question) return GONE;
  }
  const effect = await effectOf(tools, item, actor);
  if (effect === null) return NOT_DECIDED;
  if (effect.kind !== 'refused') return 'stored';
  const { code, message } = effect.refusal;
  return IN_FLIGHT.includes(code) ? 'later' : { outcome: 'refused', code, message };
}

/** Null if the item names nothing that the action applies to. */
function effectOf(
  { facts, tasks, readers }: RunItemTools,
  { document: { action, reason }, target, place: idempotency }: Item,
  actor: Actor,
): Promise<ActionResult<unknown>> | null {
  const { id } = target;
  switch (action) {
    case 'replay':
      return replayDelivery({ records: facts.records, readers }, { id, actor, idempotency });
    case 'resolve':
      return resolveTask({ records: facts.records, tasks }, { id, reason: reason ?? undefined, actor, idempotency });
    case 'retry':
    case 'waive':
    case 'accept': {
      const subject = subjectOf(target);
      const command = action === 'retry' ? { action } : { action, reason: reason ?? '', reference: null };
      if (subject === null) return null;
      return subject.kind === 'report'
        ? decideReport(facts, { ...subject, command, actor, idempotency })
        : decideViolation(facts, { ...subject, command, actor, idempotency });
    }
  }
}

/** The report or violation that a task is about; null when it is about neither. */
export function subjectOf({
  towingReferenceId: ref,
  reportId,
  violationId: id,
}: Pick<RunTarget, 'towingReferenceId' | 'reportId' | 'violationId'>) {
  // A task about a report may name the violation of its tow too.
  if (ref !== null && reportId !== null) return { kind: 'report', ref, reportId } as const;
  return id === null ? null : ({ kind: 'violation', id } as const);
}
