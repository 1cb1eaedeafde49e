import type { Task } from '../contracts/records';
import { auditOf, type Actor } from '../domain/audit';
import { settleDelivery } from '../domain/delivery';
import { closeTask, noteEvent, type OutboxRecord, type StoredTow } from '../domain/outbox-record';
import { conflict, unknown } from '../domain/refusal';
import { settleQuestionedAnswer } from '../domain/settle-entry';
import { parkedInvoiceTask } from '../domain/tasks';
import { violationContractTaskId } from '../domain/violation-tasks';
import { done, refused, type Effect } from './effect';
import type { TaskStore } from './ports';
import { taskViewOf, type TaskView } from './task-view';
import { towRecordOf } from './tow-record';
import { transactOnce } from './transact-once';
import { lineOfTow, lineOfViolation, type RecordStore, type Remember, type Transaction } from './transaction-port';
import { violationRecordOf } from './violation-record';

export interface ResolveTools {
  readonly records: RecordStore;
  readonly tasks: Pick<TaskStore, 'read'>;
}

export interface ResolveRequest {
  readonly id: string;
  readonly reason: string | undefined;
  readonly actor: Actor;
  readonly remember?: Remember | undefined;
}

const noSuchTask = unknown('task_not_found', 'There is no such open task.').refusal;

/** Closes a task that only informs; any other is refused. The answer is the task as it was. */
export async function resolveTask(tools: ResolveTools, request: ResolveRequest): Promise<Effect<TaskView>> {
  // Tells which record the task belongs to.
  const task = await tools.tasks.read(request.id);
  if (!task) return refused(noSuchTask);
  const { towing_reference_id: ref, violation_id: violationId = '' } = task;
  const line = ref === undefined ? lineOfViolation(violationId) : lineOfTow(ref);
  const { remember } = request;
  return transactOnce(tools.records, { line, remember }, (transaction) => resolveIn(transaction, task, request));
}

async function resolveIn(
  transaction: Transaction,
  task: Task,
  { id, reason, actor }: ResolveRequest,
): Promise<Effect<TaskView>> {
  const { towing_reference_id: ref, violation_id: violationId, type } = task;
  const tow = ref === undefined ? null : await transaction.tow(ref);
  const violation = violationId === undefined ? null : await transaction.violation(violationId);
  const draft = ref === undefined ? violation : tow;
  const open = draft?.tasks[id]?.task;
  const actions = open?.actions ?? task.actions;
  if (!actions.includes('resolve')) {
    return refused(
      conflict('decision_needed', `Decide on it: ${actions.join(', ') || 'it closes by itself'}.`).refusal,
    );
  }
  const value = taskViewOf(task, {
    tow: tow && towRecordOf(tow, transaction.nowMs),
    violation: violation && violationRecordOf(violation),
  });
  const subject = {
    ...(ref === undefined ? {} : { towing_reference_id: ref }),
    ...(violationId === undefined ? {} : { violation_id: violationId }),
  };
  const audit = auditOf(actor, 'task.resolved', {
    on: { task_id: id, ...subject },
    why: reason,
    what: { task_type: type },
  });
  if (draft && open) {
    await close(transaction, draft, id);
    const isOfTow = draft.kind === 'tow' && draft.tow !== null;
    const event = { type: audit.action, task_type: type, by: actor.name, reason: audit.why };
    if (isOfTow) noteEvent(draft, event, transaction.nowMs);
  } else if (!(await transaction.closeGeneralTask(id))) {
    // Neither is it a task of the whole operator, or one whose record has left.
    return refused(noSuchTask);
  }
  transaction.audit(audit);
  return done(value);
}

async function close(transaction: Transaction, draft: OutboxRecord, id: string): Promise<void> {
  closeTask(draft, id);
  if (draft.kind === 'violation') {
    if (id === violationContractTaskId(draft.id)) settleQuestionedAnswer(draft);
  } else if (id === `${parkedInvoiceTask.subject}.${draft.ref}`) {
    await setParkedAside(transaction, draft);
  }
}

/** Sets the parked invoices aside that were asked about; one that is still due came later, and is asked about later. */
async function setParkedAside(transaction: Transaction, draft: StoredTow): Promise<void> {
  const scheduled = await transaction.scheduledDeliveries(draft.parked.map(({ id }) => id));
  const asked = draft.parked.filter(({ id }) => !scheduled.has(id));
  draft.parked = draft.parked.filter(({ id }) => scheduled.has(id));
  for (const { id } of asked) {
    const delivery = await transaction.delivery(id);
    if (delivery && delivery.state !== 'processed') {
      settleDelivery(delivery, draft, 'set_aside', transaction.nowMs);
    }
  }
}
