import { withheldFieldOf } from '../../contracts/outbox/withheld';
import type { ReportView, TaskView, TowNow, TowView } from '../../contracts/operator';
import type { WebhookReaders } from '../../contracts/webhook/read-webhook';
import type { PlaceInQueue, Task } from '../../contracts/outbox/records';
import type { ViolationView } from '../../contracts/violation/violations';
import type { Delivery } from '../../domain/webhook/delivery';
import type { Dispatch } from '../../domain/tow/dispatch';
import { answeredCharges, type Charges } from '../../domain/tow/charges';
import type { EntryAttempt } from '../../domain/outbox/entry';
import { isWithdrawn } from '../../domain/tow/billing';
import { allowedDecisions } from '../../domain/outbox/decisions';
import type { TowRules } from '../../domain/tow/fact-command';
import { headOf, isReport, isSettled, type ReportEntry } from '../../domain/outbox/outbox';
import { versionNumber, type StoredViolation } from '../../domain/outbox/outbox-record';
import { entryOf } from '../../domain/violation/stored-violation';
import { ageOf, overdueOf } from '../../domain/outbox/overdue';
import { releaseChecklist } from '../../domain/tow/release-checklist';
import { reportsOf, type KnownTow } from '../../domain/tow/stored-tow';
import { timelineOf } from '../../domain/tow/timeline';
import { isoOrNull, isoTimestamp } from '../../domain/timestamp';
import { metadataIdOf, type ViolationImage } from '../../domain/violation/violation';
import { whereaboutsViewOf } from '../../domain/tow/tow';
import { textOfValue } from '../../domain/vocabulary';
import type { QueuePlace } from '../../domain/outbox/waiting';
import { tasksOf, type AsRead } from '../outbox/read-record';
import type { TaskSubjects } from '../ops/task-subjects';

/** A tow as the API shows it, in wire names and ISO times. */
export function towViewOf(record: AsRead<KnownTow>): TowView {
  const { tow } = record;
  const reports = record.entries.filter(isReport);
  return {
    towing_reference_id: tow.towingReferenceId,
    violation_reference_id: tow.violationReferenceId,
    metadata: tow.metadata,
    state: tow.state,
    version: versionNumber(record.version),
    ...whereaboutsViewOf(tow),
    zone_id: tow.zoneId,
    violation_type: tow.violationType,
    violation_id: tow.violationId,
    requested_at: tow.requestedAt,
    state_since: isoTimestamp(ageOf(tow, record.readAtMs).sinceMs),
    ...withheldFieldOf(record),
    cancellation_reason: tow.state === 'canceled' ? tow.cancellationReason : null,
    facts: tow.facts.map((fact) => ({
      event: fact.event,
      occurred_at: fact.occurredAt,
      recorded_at: fact.recordedAt,
      by: fact.by,
    })),
    reports: reports.map((report) => reportViewOf(report, record)),
    invoice_request: tow.invoiceRequest && {
      vehicle_type: tow.invoiceRequest.vehicleType,
      delay_in_days: tow.invoiceRequest.delayInDays,
      computed_delay_in_days: tow.invoiceRequest.computedDelayInDays,
      override_reason: tow.invoiceRequest.overrideReason,
    },
    payments: tow.payments.map(({ paymentStatus, externalReference }, index) => ({
      payment_status: paymentStatus,
      external_reference: externalReference,
      withdrawn: isWithdrawn(reports, index),
    })),
    invoices: invoicesOf(record),
    tasks: tasksOf(record),
    dispatch: dispatchViewOf(tow.dispatch),
    timeline: timelineOf(record).map(({ atMs, entry }) => ({
      at: isoTimestamp(atMs),
      ...entry,
      type: typeof entry['type'] === 'string' ? entry['type'] : '',
    })),
  };
}

/** A tow as it is read, with what follows from the rules of this installation. */
export function towNowOf(record: AsRead<KnownTow>, rules: TowRules): TowNow {
  return {
    ...towViewOf(record),
    overdue: overdueOf(record, rules.overdueAfter, record.readAtMs).map(({ what, sinceMs }) => ({
      what,
      since: isoTimestamp(sinceMs),
    })),
    release: releaseChecklist(record.tow, { reports: reportsOf(record), rules }),
  };
}

/** A delivery as the API shows it alone. */
export type DeliveryDetail = ReturnType<typeof deliveryDetailOf>;

/** With the rules of the contract that its body breaks, as the readers find them now. */
export function deliveryDetailOf(delivery: Delivery, readers: WebhookReaders) {
  const { kind, rawBody } = delivery;
  const read = readers[kind](rawBody);
  const differences = read.kind === 'message' ? read.tolerated : read.rules;
  return { ...deliveryViewOf(delivery), raw_body: rawBody, differences: [...differences] };
}

/** A delivery as the API lists it. */
export function deliveryViewOf(delivery: Delivery) {
  return {
    id: delivery.id,
    kind: delivery.kind,
    state: delivery.state,
    verdict: textOfValue(delivery.verdict),
    difference_id: delivery.differenceId,
    towing_reference_id: delivery.towingReferenceId,
    verified: delivery.verified,
    signature_id: delivery.signatureId,
    signed_at: isoOrNull(delivery.signedAtMs),
    received_at: isoTimestamp(delivery.receivedAtMs),
    processed_at: isoOrNull(delivery.processedAtMs),
    copies: delivery.copies,
    failures: delivery.failures,
    replays: delivery.replays,
  };
}

/** The report of a task as the API shows it; null when it has none. */
function reportOfTask(record: AsRead<KnownTow>, reportId: string | undefined): ReportView | null {
  const report = record.entries.filter(isReport).find(({ id }) => id === reportId);
  return report ? reportViewOf(report, record) : null;
}

/** Only the head has its own time; the reports after it wait for it. */
function reportViewOf(report: ReportEntry, { entries, queue }: AsRead<KnownTow>): ReportView {
  const isHead = report === headOf(entries);
  return {
    id: report.id,
    kind: report.kind,
    state: report.state,
    revision: report.revision,
    // Before its turn a retry would change nothing.
    decisions: allowedDecisions(report).filter((decision) => decision !== 'retry' || isHead),
    attempts: report.attempts,
    last_error: report.error,
    next_attempt_at: isHead ? isoOrNull(queue?.leavesAtMs ?? report.nextAtMs) : null,
    hint: textOfValue(report.hint),
    reason: report.reason,
    created_at: isoTimestamp(report.createdAtMs),
    delivered_at: isoOrNull(report.deliveredAtMs),
    in_flight: report.attemptId !== null,
    waits_for: isHead ? textOfValue(report.waitsFor) : null,
    place_in_queue: isHead ? placeViewOf(queue) : null,
    give_up_at: isSettled(report.state) ? null : isoOrNull(report.giveUpAtMs),
    broken_answer: report.rawBody,
    answer: report.answer,
    body: report.body,
    log: logViewOf(report.log),
  };
}

function logViewOf(log: readonly EntryAttempt[]): ReportView['log'] {
  return log.map((attempt) => ({ ...attempt, outcome: attempt.outcome.toString() }));
}

function placeViewOf(queue: QueuePlace | null): PlaceInQueue | null {
  if (!queue) return null;
  return {
    place: queue.place,
    of: queue.of,
    leaves_at: isoTimestamp(queue.leavesAtMs),
    closed_until: isoOrNull(queue.closedUntilMs),
  };
}

function invoicesOf(record: AsRead<KnownTow>): TowView['invoices'] {
  const answer = answeredInvoice(record);
  const answered = answer
    ? [
        {
          source: 'answer' as const,
          received_at: isoTimestamp(answer.receivedAtMs),
          towing_invoice: answer.towingInvoice,
          delay_invoice: answer.delayInvoice,
        },
      ]
    : [];
  const posted: TowView['invoices'] = record.tow.invoiceWebhooks.map((webhook) => ({
    source: 'webhook',
    received_at: webhook.receivedAt,
    towing_invoice: webhook.towingInvoice,
    delay_invoice: webhook.delayInvoice,
  }));
  // The last webhook counts, whenever it came.
  const later = posted.findIndex(({ received_at }) => received_at > (answered[0]?.received_at ?? ''));
  return posted.toSpliced(later < 0 ? posted.length : later, 0, ...answered);
}

/** The charges in the answer to our invoice request; null before, or when the answer broke its contract. */
function answeredInvoice(record: AsRead<KnownTow>): (Charges & { receivedAtMs: number }) | null {
  const report = record.entries.find(({ kind, answer }) => kind === 'invoice' && answer !== null);
  const charges = answeredCharges(report?.answer ?? null);
  return report && charges ? { ...charges, receivedAtMs: report.deliveredAtMs ?? record.readAtMs } : null;
}

/** Dispatch data as the API shows it, without the location of photos on disk. */
function dispatchViewOf(dispatch: Dispatch): TowView['dispatch'] {
  return {
    assignment: dispatch.assignment && { ...dispatch.assignment },
    steps: dispatch.steps.map(({ step, occurredAt, recordedAt, by }) => ({
      step,
      occurred_at: occurredAt,
      recorded_at: recordedAt,
      by,
    })),
    yard: dispatch.yard && { ...dispatch.yard },
    holds: dispatch.holds.map((hold) => ({ ...hold })),
    notes: dispatch.notes.map((note) => ({ ...note })),
    photos: dispatch.photos.map(({ id, name, contentType, sizeBytes, sha256, at, by }) => ({
      id,
      name,
      content_type: contentType,
      size_bytes: sizeBytes,
      sha256,
      at,
      by,
    })),
  };
}

function imageViewOf({ name, contentType, sizeBytes, sha256 }: ViolationImage) {
  return { name, content_type: contentType, size_bytes: sizeBytes, sha256 };
}

/** A violation as the API shows it, without the location of its images on disk. */
export function violationViewOf(record: AsRead<StoredViolation>): ViolationView {
  const { violation, queue } = record;
  const entry = entryOf(record);
  return {
    id: violation.id,
    state: entry.state,
    version: versionNumber(record.version),
    api: violation.api,
    violation_reference_id: record.reference,
    metadata_id: metadataIdOf(violation),
    service_status: record.serviceStatus,
    can_tow: record.canTow,
    form: { ...violation.form },
    images: violation.images.map(imageViewOf),
    replaced_images: (violation.replacedImages ?? []).map((image) => ({
      ...imageViewOf(image),
      replaced_at: image.replacedAt,
      replaced_by: image.replacedBy,
    })),
    warnings: [...violation.warnings],
    towing_reference_ids: [...record.tows],
    ticket: record.ticket,
    ticket_overruled: record.ticketOverruled,
    tasks: tasksOf(record),
    decisions: allowedDecisions(entry),
    revision: entry.revision,
    attempts: entry.attempts,
    last_error: entry.error,
    next_attempt_at: isSettled(entry.state) ? null : isoOrNull(queue?.leavesAtMs ?? entry.nextAtMs),
    waits_for: textOfValue(entry.waitsFor),
    place_in_queue: placeViewOf(queue),
    ...withheldFieldOf(record),
    give_up_at: isSettled(entry.state) ? null : isoOrNull(entry.giveUpAtMs),
    hint: textOfValue(entry.hint),
    reason: entry.reason,
    in_flight: entry.attemptId !== null,
    accepted_how: textOfValue(entry.acceptedHow),
    accepted_at: entry.state === 'accepted' ? isoOrNull(entry.settledAtMs) : null,
    broken_answer: entry.rawBody,
    log: logViewOf(entry.log),
    created_at: violation.createdAt,
    by: violation.by,
  };
}

/** A task as the API shows it, with its tow, report or violation. */
export function taskViewOf(task: Task, about: TaskSubjects): TaskView {
  return {
    ...task,
    tow: about.tow && { state: about.tow.tow.state, plate_number: about.tow.tow.plateNumber },
    report: about.tow && reportOfTask(about.tow, task.report_id),
    violation: about.violation && violationViewOf(about.violation),
  };
}
