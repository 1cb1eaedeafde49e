import type { Hint } from './policy';
import { CORRECTABLE_FIELDS } from './outbox';
import type { ReportKind } from './vocabulary';

/** The words of every task, in one place: what happened, and what a person can do about it. */

export type TaskAction = 'correct' | 'retry' | 'waive' | 'accept' | 'resolve';

/** A task to open. With the towing reference its subject makes the id, so that opening it twice is opening it once. */
export interface NewTask {
  readonly subject: string;
  readonly type: string;
  /** For people; may quote the service, so it never reaches a log. */
  readonly message: string;
  readonly actions: TaskAction[];
  readonly report_id?: string;
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
    actions:
      CORRECTABLE_FIELDS[report.kind].length > 0
        ? ['correct', 'retry', 'waive', 'accept']
        : ['retry', 'waive', 'accept'],
    report_id: report.id,
    http_status: report.httpStatus,
    hint: report.hint,
  };
}

/** The service took a report and answered something its own document does not allow. */
export function contractBrokenTask(report: { id: string; kind: ReportKind; httpStatus: number }): NewTask {
  return {
    subject: `contract-${report.id}`,
    type: 'answer_broken',
    message: `The service accepted the ${report.kind} report, but its answer breaks the documented contract. The answer is kept with the report as broken_answer.`,
    actions: ['resolve'],
    report_id: report.id,
    http_status: report.httpStatus,
  };
}

/** No report can pass: one task for the whole operator, closed by itself when a call passes again. */
export function connectionTask(cause: string, metBy: { kind: ReportKind; towingReference: string }): NewTask {
  return {
    subject: 'connection',
    type: 'connection_lost',
    message: `Nothing can be sent to the service (${cause}, first met by the ${metBy.kind} report of ${metBy.towingReference}). Check SERVICE_BASE_URL and the credentials. Sending goes on by itself once it works.`,
    actions: [],
  };
}

/** The invoice of the answer and the one of the webhook differ. */
export function invoiceMismatchTask(fields: readonly string[]): NewTask {
  return {
    subject: 'invoice_mismatch',
    type: 'invoice_mismatch',
    message: `The invoice webhook and the answer to our invoice request differ in ${fields.join(', ')}.`,
    actions: ['resolve'],
  };
}

/** The service asked for a known tow again, with another violation or metadata. */
export const rivalRequestTask: NewTask = {
  subject: 'rival_request',
  type: 'rival_request',
  message:
    'The service sent another tow request for this tow with a different violation or metadata. The first one is kept.',
  actions: ['resolve'],
};

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
  message: 'An invoice came more than 24 hours ago for a tow that was never requested.',
  actions: ['resolve'],
};
