import type { WebhookReaders } from '../../contracts/webhook/read-webhook';
import type { EntryKind } from '../../domain/vocabulary';
import { type Actor, auditOf } from '../../domain/ops/audit';
import { endPause } from '../../domain/service/circuits';
import { reopenDelivery, settleDelivery } from '../../domain/webhook/delivery';
import { conflict, unknown } from '../../domain/refusal';
import { done, type ActionResult, refused, transactOnce } from '../action-result';
import {
  CIRCUITS_ORDER_KEY,
  type IdempotencyRecord,
  orderKeyOf,
  type RecordStore,
  type Transaction,
} from '../transaction-port';
import { type DeliveryDetail, deliveryDetailOf, taskViewOf } from '../tow/views';
import type { TaskView } from '../../contracts/operator';
import type { Task } from '../../contracts/outbox/records';
import { addEvent, taskIdOf, type OutboxRecord, type StoredTow } from '../../domain/outbox/outbox-record';
import { isKnown } from '../../domain/tow/stored-tow';
import { parkedInvoiceTask } from '../../domain/ops/tasks';
import type { TaskStore } from '../ports';
import { asRead } from '../outbox/read-record';

export interface ReplayRequest {
  readonly id: string;
  readonly actor: Actor;
  readonly idempotency: IdempotencyRecord | undefined;
}

const noSuchDelivery = unknown('delivery_not_found', 'There is no such delivery.').refusal;

/** Makes a delivery due again, processed or not. */
export function replayDelivery(
  { records, readers }: { readonly records: RecordStore; readonly readers: WebhookReaders },
  { id, actor, idempotency }: ReplayRequest,
): Promise<ActionResult<DeliveryDetail>> {
  return transactOnce(records, { orderKey: orderKeyOf('delivery', id), idempotency }, async (transaction) => {
    const delivery = await transaction.delivery(id);
    if (!delivery) return refused(noSuchDelivery);
    reopenDelivery(delivery);
    transaction.scheduleDelivery(id, transaction.nowMs);
    const on = { delivery_id: id, towing_reference_id: delivery.towingReferenceId };
    transaction.audit(auditOf(actor, 'delivery.replayed', { on }));
    return done(deliveryDetailOf(delivery, readers));
  });
}

export interface ResumeRequest {
  readonly operation: EntryKind;
  readonly reason: string | undefined;
  readonly actor: Actor;
  readonly idempotency: IdempotencyRecord | undefined;
}

const notPaused = conflict('operation_not_paused', 'The operation is not paused.').refusal;

/** Ends the pause of an operation by hand. */
export function resumeOperation(
  { records }: { records: RecordStore },
  { operation, reason, actor, idempotency }: ResumeRequest,
): Promise<ActionResult> {
  return transactOnce<null>(records, { orderKey: CIRCUITS_ORDER_KEY, idempotency }, async (transaction) => {
    const circuits = await transaction.circuits({ isFresh: true });
    if (!endPause(circuits, operation, transaction.circuitEffects)) return refused(notPaused);
    transaction.audit(auditOf(actor, 'operation.resumed', { on: { operation }, why: reason }));
    return done(null);
  });
}

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
