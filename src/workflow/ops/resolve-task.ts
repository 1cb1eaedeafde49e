import type { TaskView } from '../../contracts/operator';
import type { Task } from '../../contracts/outbox/records';
import { auditOf, type Actor } from '../../domain/ops/audit';
import { settleDelivery } from '../../domain/webhook/delivery';
import { addEvent, taskIdOf, type OutboxRecord, type StoredTow } from '../../domain/outbox/outbox-record';
import { conflict, unknown } from '../../domain/refusal';
import { isKnown } from '../../domain/tow/stored-tow';
import { parkedInvoiceTask } from '../../domain/ops/tasks';
import { done, type ActionResult, refused, transactOnce } from '../action-result';
import type { TaskStore } from '../ports';
import { taskViewOf } from '../tow/views';
import { asRead } from '../outbox/read-record';
import { orderKeyOf, type RecordStore, type IdempotencyRecord, type Transaction } from '../transaction-port';

export interface ResolveTools {
  readonly records: RecordStore;
  readonly tasks: Pick<TaskStore, 'read'>;
}

export interface ResolveRequest {
  readonly id: string;
  readonly reason: string | undefined;
  readonly actor: Actor;
  readonly idempotency?: IdempotencyRecord | undefined;
}

const noSuchTask = unknown('task_not_found', 'There is no such open task.').refusal;

/** Closes an informing task; any other is refused. The answer is the task as it was. */
export async function resolveTask(tools: ResolveTools, request: ResolveRequest): Promise<ActionResult<TaskView>> {
  // The task names the record it belongs to.
  const task = await tools.tasks.read(request.id);
  if (!task) return refused(noSuchTask);
  const { idempotency } = request;
  return transactOnce(tools.records, { orderKey: orderKeyFor(task), idempotency }, (transaction) =>
    resolveIn(transaction, task, request),
  );
}

/** The order key of the record that the task is about; of a general task, its own. */
function orderKeyFor({ id, towing_reference_id: ref, violation_id: violationId }: Task): string {
  if (ref !== undefined) return orderKeyOf('tow', ref);
  return violationId === undefined ? orderKeyOf('task', id) : orderKeyOf('violation', violationId);
}

async function resolveIn(
  transaction: Transaction,
  task: Task,
  { id, reason, actor }: ResolveRequest,
): Promise<ActionResult<TaskView>> {
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
    tow: tow && isKnown(tow) ? asRead(tow, transaction.nowMs) : null,
    violation: violation && asRead(violation, transaction.nowMs),
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
    const event = { type: audit.action, task_type: type, by: actor.name, reason: audit.why };
    if (draft.kind === 'tow' && draft.tow !== null) addEvent(draft, event, transaction.nowMs);
  } else if (!(await transaction.closeGeneralTask(id))) {
    // Neither a task of the whole operator nor of an existing record.
    return refused(noSuchTask);
  }
  transaction.audit(audit);
  return done(value);
}

async function close(transaction: Transaction, draft: OutboxRecord, id: string): Promise<void> {
  delete draft.tasks[id];
  if (draft.kind === 'tow' && id === taskIdOf(draft, parkedInvoiceTask.subject)) {
    await setParkedAside(transaction, draft);
  }
}

/** Sets aside the parked invoices that the task was about. A scheduled one came later and gets a later task. */
async function setParkedAside(transaction: Transaction, draft: StoredTow): Promise<void> {
  const scheduled = await transaction.scheduledDeliveries(draft.parked.map(({ id }) => id));
  const unscheduled = draft.parked.filter(({ id }) => !scheduled.has(id));
  draft.parked = draft.parked.filter(({ id }) => scheduled.has(id));
  for (const { id } of unscheduled) {
    const delivery = await transaction.delivery(id);
    if (delivery && delivery.state !== 'processed') {
      settleDelivery(delivery, draft, 'set_aside', transaction.nowMs);
    }
  }
}
