import type { Hint } from './policy';
import { CORRECTABLE_FIELDS } from './outbox';
import type { PausableOperation, ReportKind } from './vocabulary';

/** The words of every task, in one place: what happened, and what a person can do about it. */

export const TASK_ACTIONS = ['correct', 'retry', 'waive', 'accept', 'resolve', 'resume'] as const;
export type TaskAction = (typeof TASK_ACTIONS)[number];

/** What happened, by name. Whoever speaks to people has words for each of them. */
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
  'answer_broken',
  'invoice_mismatch',
  'invoice_before_correction',
  'violation_before_correction',
  'rival_request',
  'violation_twice',
  'invoice_parked',
  'late_invoice',
  'late_request',
  'delivery_failing',
  'operation_paused',
  'connection_lost',
  'service_down',
  'records_lost',
  'archive_failing',
] as const;
export type TaskType = (typeof TASK_TYPES)[number];

/** A task to open. With the towing reference its subject makes the id, so that opening it twice is opening it once. */
export interface NewTask {
  readonly subject: string;
  readonly type: TaskType;
  /** For people; may quote the service, so it never reaches a log. */
  readonly message: string;
  readonly actions: TaskAction[];
  readonly report_id?: string;
  readonly violation_id?: string;
  /** The operation that a paused one is about. */
  readonly operation?: PausableOperation;
  readonly http_status?: number | null;
  readonly hint?: string | null;
}

/** The service said no; the tow's outbox waits for a person. */
export function refusedTask(report: {
  id: string;
  kind: ReportKind;
  httpStatus: number;
  words: string | null;
  hint: Hint | null;
}): NewTask {
  const quoted = report.words === null ? 'without a word' : `"${report.words}"`;
  const perhaps =
    report.hint === 'perhaps_already_accepted' ? ' An earlier try got no answer and may have worked.' : '';
  return {
    subject: report.id,
    type: 'report_refused',
    message: `The service refused the ${report.kind} report: ${quoted} (HTTP ${report.httpStatus}).${perhaps}`,
    actions: decisionsOn(report.kind),
    report_id: report.id,
    http_status: report.httpStatus,
    hint: report.hint,
  };
}

/** A call that makes something was sent, perhaps twice, and nobody knows whether it worked. */
export function unknownOutcomeTask(report: { id: string; kind: ReportKind }): NewTask {
  return {
    subject: report.id,
    type: 'report_unknown',
    message: `The ${report.kind} report may have been sent, and no answer came. It may or may not have worked; look it up at the service.`,
    actions: ['accept', 'retry', 'waive'],
    report_id: report.id,
  };
}

/** A report has kept failing for as long as the configuration allows; nothing more is sent by itself. */
export function givenUpTask(report: { id: string; kind: ReportKind; attempts: number }): NewTask {
  return {
    subject: report.id,
    type: 'report_given_up',
    message: `The ${report.kind} report has kept failing for too long (${report.attempts} attempts). Nothing more is sent until somebody decides.`,
    actions: decisionsOn(report.kind),
    report_id: report.id,
  };
}

function decisionsOn(kind: ReportKind): TaskAction[] {
  return CORRECTABLE_FIELDS[kind].length > 0 ? ['correct', 'retry', 'waive', 'accept'] : ['retry', 'waive', 'accept'];
}

/** The service took a report and answered something its own document does not allow, or nothing. */
export function contractBrokenTask(report: { id: string; kind: ReportKind; httpStatus: number }): NewTask {
  return {
    subject: `contract-${report.id}`,
    type: 'answer_broken',
    message: `The service accepted the ${report.kind} report, but its answer breaks the documented contract. Its body, if it had one, is kept with the report as broken_answer. Look it up at the service: resolve this if the report is there, send it again if it is not.`,
    actions: ['resolve', 'retry'],
    report_id: report.id,
    http_status: report.httpStatus,
  };
}

/** No report can pass: one task for the whole operator, closed by itself when a call passes again. */
export function connectionTask(
  cause: string,
  metBy: { kind: ReportKind; towingReference: string } | { violationId: string },
): NewTask {
  const first =
    'violationId' in metBy
      ? `the violation ${metBy.violationId}`
      : `the ${metBy.kind} report of ${metBy.towingReference}`;
  return {
    subject: 'connection',
    type: 'connection_lost',
    message: `Nothing can be sent to the service (${cause}, first met by ${first}). Check SERVICE_BASE_URL, the credentials, and whether a page or a proxy answers in place of the service. One call tries again at least every five minutes, and sending goes on by itself once it works.`,
    actions: [],
  };
}

/** The service fails or cannot be reached: one task for the whole operator, closed by itself when it answers again. */
export function outageTask(lastWords: string): NewTask {
  return {
    subject: 'outage',
    type: 'service_down',
    message: `The service fails call after call (last: ${lastWords}). All reports wait; one call at a time tries again, and sending goes on by itself once it works.`,
    actions: [],
  };
}

/** The service forbids an operation for tow after tow: one task, whichever tows met it. */
export function pausedOperationTask(kind: PausableOperation, lastWords: string): NewTask {
  return {
    subject: `paused.${kind}`,
    type: 'operation_paused',
    message: `The service forbids the ${kind} operation (HTTP 403: ${lastWords}). Its reports wait; every 5 minutes one tries again. Ask the service for the permission, then resume.`,
    actions: ['resume'],
    operation: kind,
    http_status: 403,
  };
}

/** Something acknowledged is nowhere any more. Opened and closed by the conservation check, never by a person. */
export const recordsLostTask: NewTask = {
  subject: 'records_lost',
  type: 'records_lost',
  message:
    'Acknowledged deliveries or violations, or recorded facts, were found in no state at all. GET /api/conservation names them. What only lacked an index entry is repaired and goes on by itself; for the rest look at the log and at Redis. This closes by itself once a complete scan finds nothing lost.',
  actions: [],
};

/** The invoice of the answer and the one of the webhook differ. */
export function invoiceMismatchTask(fields: readonly string[]): NewTask {
  return {
    subject: 'invoice_mismatch',
    type: 'invoice_mismatch',
    message: `The invoice webhook and the answer to our invoice request differ in ${fields.join(', ')}.`,
    actions: ['resolve'],
  };
}

/** The invoice that exists is the one asked for before a person corrected the request. */
export const provedBeforeCorrectionTask: NewTask = {
  subject: 'invoice_before_correction',
  type: 'invoice_before_correction',
  message:
    'The invoice webhook proves the request as it was before it was corrected; the corrected one was never sent. Compare the invoice with what you meant.',
  actions: ['resolve'],
};

/** The service asked for a known tow again, with another violation or metadata. */
export const rivalRequestTask: NewTask = {
  subject: 'rival_request',
  type: 'rival_request',
  message:
    'The service sent another tow request for this tow with a different violation or metadata. The first one is kept.',
  actions: ['resolve'],
};

/** A tow was requested for one of our violations by another name than the service had for it. */
export function violationTwiceTask(violation: { id: string; names: readonly [string, string] }): NewTask {
  const [shownAs, requestedAs] = violation.names;
  return {
    subject: 'violation_twice',
    type: 'violation_twice',
    message: `The service may hold the violation of this tow twice: as ${shownAs}, and as ${requestedAs}, by which it asks for this tow. Look both up there.`,
    actions: ['resolve'],
    violation_id: violation.id,
  };
}

/** Something about a delivery is beyond the program; it keeps trying, and closes the task when it succeeds. */
export function failingDeliveryTask(deliveryId: string): NewTask {
  return {
    subject: `delivery_failing-${deliveryId}`,
    type: 'delivery_failing',
    message: `The webhook delivery ${deliveryId} fails whenever it is processed. It is tried on; the log says why it fails.`,
    actions: ['resolve'],
  };
}

/** An invoice has waited too long for its tow request. */
export const parkedInvoiceTask: NewTask = {
  subject: 'invoice_parked',
  type: 'invoice_parked',
  message:
    'An invoice came more than 24 hours ago for a tow that was never requested. Resolve sets it aside; replay its delivery to bring it back.',
  actions: ['resolve'],
};

/** More different invoices came for one unknown tow than wait for it. */
export const invoicesSetAsideTask: NewTask = {
  subject: 'invoices_set_aside',
  type: 'invoice_parked',
  message:
    'More than 100 different invoices came for a tow that was never requested. Those after the first 100 are set aside; replay their deliveries to bring them back.',
  actions: ['resolve'],
};

/** What is finished cannot be archived; closed by itself once it can. */
export function archiveFailingTask(code: string): NewTask {
  return {
    subject: 'archive_failing',
    type: 'archive_failing',
    message: `The archive in DATA_DIR cannot be written (${code}). Nothing is deleted from Redis until it can; then this closes by itself.`,
    actions: [],
  };
}
