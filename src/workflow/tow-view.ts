import type { TowView } from '../contracts/operator';
import type { Delivery, Report, TowRecord } from '../contracts/records';
import { answeredCharges } from '../domain/compare-invoices';
import type { Charges } from '../domain/invoice';
import { isSettled } from '../domain/outbox';
import { dispatchViewOf } from './dispatch-view';

/** A tow as the API shows it, in wire names and ISO times. */
export function towViewOf(record: TowRecord): TowView {
  const { tow } = record;
  const head = record.reports.find(({ state }) => !isSettled(state));
  return {
    towing_reference_id: tow.towingReferenceId,
    violation_reference_id: tow.violationReferenceId,
    metadata: tow.metadata,
    state: tow.state,
    version: record.version,
    plate_number: tow.plateNumber,
    towed_location: tow.towedLocation,
    latitude: tow.latitude,
    longitude: tow.longitude,
    zone_id: tow.zoneId,
    violation_type: tow.violationType,
    violation_id: tow.violationId,
    requested_at: tow.requestedAt,
    cancellation_reason: tow.state === 'canceled' ? tow.cancellationReason : null,
    facts: tow.facts.map((fact) => ({
      event: fact.event,
      occurred_at: fact.occurredAt,
      recorded_at: fact.recordedAt,
      by: fact.by,
    })),
    reports: record.reports.map((report) => reportViewOf(report, report === head)),
    invoices: invoicesOf(record),
    tasks: [...record.tasks],
    dispatch: dispatchViewOf(tow.dispatch),
    timeline: record.timeline.map(({ atMs, ...entry }) => ({ at: iso(atMs), ...entry })),
  };
}

/** A delivery as the API shows it alone. */
export type DeliveryDetail = ReturnType<typeof deliveryDetailOf>;

export function deliveryDetailOf(delivery: Delivery) {
  return { ...deliveryViewOf(delivery), raw_body: delivery.rawBody };
}

/** A delivery as the API lists it. */
export function deliveryViewOf(delivery: Delivery) {
  return {
    id: delivery.id,
    kind: delivery.kind,
    state: delivery.state,
    verdict: delivery.verdict,
    towing_reference_id: delivery.towingReferenceId,
    verified: delivery.verified,
    signature_id: delivery.signatureId,
    received_at: iso(delivery.receivedAtMs),
    processed_at: perhapsIso(delivery.processedAtMs),
    copies: delivery.copies,
    failures: delivery.failures,
    replays: delivery.replays,
  };
}

/** The report a task is about, as the API shows it; null when it is about none. */
export function reportOfTask(record: TowRecord, reportId: string | undefined): TowView['reports'][number] | null {
  return towViewOf(record).reports.find(({ id }) => id === reportId) ?? null;
}

/** Only the head of the outbox has a time of its own; what stands behind it waits for it. */
function reportViewOf(report: Report, isHead: boolean): TowView['reports'][number] {
  return {
    id: report.id,
    kind: report.kind,
    state: report.state,
    attempts: report.attempts,
    last_error: report.lastError,
    next_attempt_at: isHead ? perhapsIso(report.nextAttemptAtMs) : null,
    hint: report.hint,
    reason: report.reason,
    created_at: iso(report.createdAtMs),
    delivered_at: perhapsIso(report.deliveredAtMs),
    in_flight: report.inFlight,
    waits_for: isHead ? report.waitsFor : null,
    give_up_at: isSettled(report.state) ? null : perhapsIso(report.giveUpAtMs),
    broken_answer: report.brokenAnswer,
    body: report.body,
    log: [...report.log],
  };
}

function invoicesOf(record: TowRecord): TowView['invoices'] {
  const answer = answeredInvoice(record);
  const answered = answer
    ? [
        {
          source: 'answer' as const,
          received_at: iso(answer.receivedAtMs),
          towing_invoice: answer.towingInvoice,
          delay_invoice: answer.delayInvoice,
        },
      ]
    : [];
  const posted = record.tow.invoiceWebhooks.map((webhook) => ({
    source: 'webhook' as const,
    received_at: webhook.receivedAt,
    towing_invoice: webhook.towingInvoice,
    delay_invoice: webhook.delayInvoice,
  }));
  return [...answered, ...posted].toSorted((a, b) => a.received_at.localeCompare(b.received_at));
}

/** The charges the service answered to our invoice request; null before that, or when the answer broke its contract. */
function answeredInvoice(record: TowRecord): (Charges & { receivedAtMs: number }) | null {
  const report = record.reports.find(({ kind, answer }) => kind === 'invoice' && answer !== null);
  const charges = answeredCharges(report?.answer ?? null);
  return report && charges ? { ...charges, receivedAtMs: report.deliveredAtMs ?? record.readAtMs } : null;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function perhapsIso(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}
