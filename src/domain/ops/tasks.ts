import { z } from 'zod';
import { TASK_ACTIONS } from '../outbox/decisions';
import type { SeenDifference } from '../service/difference';
import { orUnknown, storedRecord } from '../stored';
import { ENTRY_KINDS, type EntryKind, type ReportKind, HINTS } from '../vocabulary';

/** Tasks: what happened, and what a person can do about it. Those about an entry are made in outbox/escalate-entry.ts. */

/** Types of tasks. The console has messages for each. */
export const TASK_TYPES = [
  'report_refused',
  'report_unknown',
  'report_given_up',
  'violation_refused',
  'violation_unknown',
  'violation_given_up',
  'active_ticket',
  'ticket_check_refused',
  'ticket_unknown',
  'images_missing',
  'answer_differs',
  'webhook_differs',
  'webhook_elsewhere',
  'invoice_mismatch',
  'invoice_before_correction',
  'violation_before_correction',
  'rival_request',
  'violation_twice',
  'violation_mismatch',
  'invoice_parked',
  'late_invoice',
  'late_request',
  'delivery_failing',
  'operation_paused',
  'connection',
  'outage',
  'records_lost',
  'archive_failing',
  'subscription_gap',
  'subscription_paused',
] as const;
export type TaskType = (typeof TASK_TYPES)[number];

/** A task as stored in its record, by its id. Another version may have opened it, also with a type of its own. */
export const storedTask = storedRecord({
  type: orUnknown(TASK_TYPES),
  /** For people. May quote the service, so it never reaches a log. */
  message: z.string(),
  actions: z.array(z.enum(TASK_ACTIONS)),
  report_id: z.string().exactOptional(),
  violation_id: z.string().exactOptional(),
  /** The paused operation, or that of a kind of difference. */
  operation: z.enum(ENTRY_KINDS).exactOptional(),
  /** The kind of difference. */
  difference_id: z.string().exactOptional(),
  http_status: z.number().nullable().exactOptional(),
  hint: orUnknown(HINTS).nullable().exactOptional(),
});
export type StoredTask = Readonly<z.output<typeof storedTask>>;

/** A task to open. Its id is the subject; of a tow, with its reference appended. So opening is idempotent. */
export interface NewTask extends Omit<StoredTask, 'type'> {
  readonly subject: string;
  readonly type: TaskType;
}

/** A task about its own type that a person may resolve, unless `more` has it otherwise. */
export function newTask(type: TaskType, message: string, more: Partial<NewTask> = {}): NewTask {
  return { subject: type, type, message, actions: ['resolve'], ...more };
}

/** The id of the task about sending a violation, and its subject. */
export function violationTaskId(id: string): string {
  return `violation.${id}`;
}

/** The id of the task about a kind of difference. */
export function differenceTaskId(differenceId: string): string {
  return `differs.${differenceId}`;
}

const DIFFERENCE_MESSAGE_MAX = 1000;

/** Messages of the service differ from its document: one task per kind of difference. */
export function differenceTask({ id, source, name, shape }: SeenDifference): NewTask {
  const operation = ENTRY_KINDS.find((kind) => source === 'answer' && name.split('_')[0] === kind);
  const rules = shape.join('; ');
  const message =
    source === 'answer'
      ? `The service answers ${name} differently from its document (${rules}). Reports and violations with such an answer count as accepted; another answer is not used. Declare it expected, or ask the service which form is meant.`
      : `Webhooks ${name} differ from their document (${rules}). They are kept and were not acted on.`;
  return newTask(`${source}_differs`, message.slice(0, DIFFERENCE_MESSAGE_MAX), {
    subject: differenceTaskId(id),
    actions: ['expect'],
    difference_id: id,
    ...(operation === undefined ? {} : { operation }),
  });
}

/** Webhooks come on a path that towhook does not process: one task for all of them, without their content. */
export const webhookElsewhereTask = newTask(
  'webhook_elsewhere',
  'The service posts messages that name a tow to a path that towhook does not process. They are not acted on. Register the addresses that end in /tow-request and /tow/invoice at the service. GET /api/other-calls lists the newest such calls with their paths.',
);

/** Whether the service refuses the credentials (401, 403), by the cause of a broken connection. */
export function refusesCredentials(cause: string | undefined): boolean {
  return /^token_(?:refused|http_40[13])$/.test(cause ?? '');
}

/** No report can be sent: one task for the whole operator. It closes automatically when a call passes. */
export function connectionTask(
  cause: string,
  metBy: { kind: ReportKind; towingReference: string } | { violationId: string } | 'token call',
): NewTask {
  const first =
    metBy === 'token call'
      ? 'a token call while nothing is sent'
      : 'violationId' in metBy
        ? `the violation ${metBy.violationId}`
        : `the ${metBy.kind} report of ${metBy.towingReference}`;
  return newTask(
    'connection',
    `Nothing can be sent to the service (${cause}, first met by ${first}). Check ${refusesCredentials(cause) ? 'SERVICE_CLIENT_ID and SERVICE_CLIENT_SECRET' : 'SERVICE_BASE_URL, and whether a page or a proxy answers in place of the service'}. One call probes the connection at least every five minutes. Sending resumes automatically once it works.`,
    { actions: [] },
  );
}

/**
 * The service fails or is unreachable: one task for the whole operator. It closes automatically when the service
 * answers.
 */
export function outageTask(lastMessage: string): NewTask {
  return newTask(
    'outage',
    `The service fails call after call (last: ${lastMessage}). All reports wait. One call at a time probes the service. Sending resumes automatically once it works.`,
    { actions: [] },
  );
}

/** The service forbids an operation for several tows: one task for all of them. */
export function pausedOperationTask(kind: EntryKind, lastMessage: string): NewTask {
  return newTask(
    'operation_paused',
    `The service forbids the ${kind} operation (HTTP 403: ${lastMessage}). Its reports wait; every 5 minutes one probes it. Ask the service for the permission, then resume.`,
    { subject: `paused.${kind}`, actions: ['resume'], operation: kind, http_status: 403 },
  );
}

/** Something acknowledged is lost. Only the conservation check opens and closes this task. */
export const recordsLostTask = newTask(
  'records_lost',
  'Acknowledged deliveries or violations, or recorded facts, are lost. GET /api/conservation lists them. Missing index entries are repaired automatically; for the rest check the log and Redis. This task closes when a complete scan finds nothing lost.',
  { actions: [] },
);

/** A subscription leaves out changes of a subject, '' those about no record; the cursors are those before and behind them. */
export function subscriptionGapTask(
  { id, name }: { readonly id: string; readonly name: string },
  subject: string,
  { from, to }: { readonly from: string; readonly to: string },
): NewTask {
  const what = subject === '' ? 'changes about no record' : subject === 'all' ? 'all changes' : `changes of ${subject}`;
  return newTask(
    'subscription_gap',
    `The subscription "${name}" has not got ${what} after ${from} up to ${to}. Read them with GET /api/changes, or send them again (towhook subscription replay ${id}).`,
    { subject: `subscription_gap.${id}.${subject}` },
  );
}

/** A subscription whose receiver accepts nothing. A change of it closes the task. */
export function subscriptionPausedTask(id: string, name: string): NewTask {
  return newTask(
    'subscription_paused',
    `The receiver of the subscription "${name}" has accepted nothing for too long, and nothing is sent to it. Resume it when the receiver works (towhook subscription resume ${id}).`,
    { subject: `subscription_paused.${id}` },
  );
}

/** The invoice in the answer and the one in the webhook differ. */
export function invoiceMismatchTask(fields: readonly string[]): NewTask {
  return newTask(
    'invoice_mismatch',
    `The invoice webhook and the answer to our invoice request differ in ${fields.join(', ')}.`,
  );
}

/** Two invoice webhooks differ, and which one is newer is not sure. */
export function invoiceOrderTask(fields: readonly string[]): NewTask {
  return newTask(
    'invoice_mismatch',
    `Two invoice webhooks differ in ${fields.join(', ')}, and the one that counts may be the older one.`,
    { subject: 'invoice_order' },
  );
}

/** The existing invoice was requested before a person corrected the request. */
export const provedBeforeCorrectionTask = newTask(
  'invoice_before_correction',
  'The service has the invoice of the request as it was before it was corrected: its webhook, or a late answer, shows it. Compare the invoice with what you meant.',
);

/** The service requested a known tow again, with another violation or metadata. */
export const rivalRequestTask = newTask(
  'rival_request',
  'The service sent another tow request for this tow with a different violation or metadata. The first one is kept.',
);

/** A tow request names one of our violations by another reference than its own. */
export function violationTwiceTask({ id, names }: { id: string; names: readonly [string, string] }): NewTask {
  return newTask(
    'violation_twice',
    `The service may have the violation of this tow twice: as ${names[0]}, and as ${names[1]}, which the tow request names. Look both up at the service.`,
    { violation_id: id },
  );
}

/** The subject of the task about a tow that may come from another violation. */
export const TWO_VIOLATIONS = 'violation_mismatch';

/** A tow request finds one of our violations by its reference, and another one by the id in its metadata. */
export function twoViolationsTask(named: { id: string; otherId: string; reference: string }): NewTask {
  const { id, otherId, reference } = named;
  return newTask(
    TWO_VIOLATIONS,
    `The tow request names two violations: ${reference} is the reference of ${id}, and its metadata has the id of ${otherId}. The tow has the plate and place of ${id}. Find out which vehicle is meant before its start is reported. If it is the other one, link the tow to ${otherId}.`,
    { violation_id: id },
  );
}

/** The service gave the reference of a tow to another violation, and the tow may have the vehicle of the former one. */
export function movedTowTask(moved: { id: string; formerId: string; reference: string }): NewTask {
  const { id, formerId, reference } = moved;
  return newTask(
    TWO_VIOLATIONS,
    `The service gave the reference ${reference} to ${id}, so the tow is linked to it now, and no longer to ${formerId}. Its start was recorded with the vehicle of ${formerId}, or its tow request names ${formerId}. Find out which vehicle is meant. If it is that of ${formerId}, link the tow to ${formerId}.`,
    { violation_id: id },
  );
}

/** The service has the form as it was before a person corrected it. */
export function beforeCorrectionTask(id: string): NewTask {
  return newTask(
    'violation_before_correction',
    'The service has the violation, but perhaps as it was before it was corrected: a tow request or a late answer shows it. Compare it with what the service has; the tow starts with the corrected form.',
    { subject: `violation_before_correction.${id}`, violation_id: id },
  );
}

/** The service gave a violation a reference that another one has. */
export function sharedReferenceTask(shared: { id: string; otherId: string; reference: string }): NewTask {
  const { id, otherId, reference } = shared;
  return newTask(
    'violation_mismatch',
    `The service gave this violation the reference ${reference}, which is that of ${otherId}. A tow request with this reference takes plate and place from ${otherId}. Look both up at the service, and find out which vehicle is meant before the start of such a tow is reported.`,
    { subject: `violation_mismatch.${id}`, violation_id: id },
  );
}

/** A delivery keeps failing. It is retried, and the task closes when it succeeds. */
export function failingDeliveryTask(deliveryId: string): NewTask {
  return newTask(
    'delivery_failing',
    `Processing the webhook delivery ${deliveryId} keeps failing. It is retried; the log has the cause.`,
    { subject: `delivery_failing-${deliveryId}` },
  );
}

/** A parked invoice has waited too long for its tow request. */
export const parkedInvoiceTask = newTask(
  'invoice_parked',
  'An invoice came more than 24 hours ago for a tow that was never requested. Resolve sets it aside; replay its delivery to bring it back.',
);

/** Too many different invoices are parked for one unknown tow. */
export const invoicesSetAsideTask = newTask(
  'invoice_parked',
  'More than 100 different invoices came for a tow that was never requested. Those after the first 100 are set aside; replay their deliveries to bring them back.',
  { subject: 'invoices_set_aside' },
);

/** Finished records cannot be archived. Closes automatically once they can. */
export function archiveFailingTask(code: string): NewTask {
  return newTask(
    'archive_failing',
    `The archive in DATA_DIR cannot be written (${code}). Nothing is deleted from Redis until it can; then this task closes.`,
    { actions: [] },
  );
}

/** An invoice came for an archived tow: nothing is compared any more. */
export function lateInvoiceTask(deliveryId: string): NewTask {
  return newTask(
    'late_invoice',
    `An invoice came for a tow that is over and was archived. It was compared with nothing; the delivery ${deliveryId} holds it, and later the archive.`,
    { subject: `late_invoice-${deliveryId}` },
  );
}

/**
 * A tow request came for an archived tow. Redis does not know whether it repeats the old request or reuses its
 * reference, so a person compares the violations.
 */
export function lateRequestTask(deliveryId: string, violationReferenceId: string): NewTask {
  return newTask(
    'late_request',
    `A tow request came for a tow that is over and was archived; no tow was made. It names the violation ${violationReferenceId}. When the archived tow has another one, this is a new order under a used reference: ask the service for a new reference. The delivery ${deliveryId} holds the request, and later the archive.`,
    { subject: `late_request-${deliveryId}` },
  );
}
