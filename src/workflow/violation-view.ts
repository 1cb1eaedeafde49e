import type { ViolationRecord, ViolationView } from '../contracts/violations';
import { metadataIdOf } from '../domain/violation';

/** A violation as the API shows it, in wire names and ISO times. Where an image lies on the disk is not shown. */
export function violationViewOf(record: ViolationRecord): ViolationView {
  const { violation } = record;
  const isSettled = record.state === 'accepted' || record.state === 'waived';
  return {
    id: violation.id,
    state: record.state,
    version: record.version,
    api: violation.api,
    violation_reference_id: record.reference,
    metadata_id: metadataIdOf(violation),
    service_status: record.serviceStatus,
    can_tow: record.canTow,
    form: { ...violation.form },
    images: violation.images.map(({ name, contentType, sizeBytes, sha256 }) => ({
      name,
      content_type: contentType,
      size_bytes: sizeBytes,
      sha256,
    })),
    warnings: [...violation.warnings],
    towing_reference_ids: [...record.towingReferenceIds],
    ticket: record.ticket,
    attempts: record.attempts,
    last_error: record.lastError,
    next_attempt_at: isSettled ? null : perhapsIso(record.nextAttemptAtMs),
    waits_for: record.waitsFor,
    give_up_at: isSettled ? null : perhapsIso(record.giveUpAtMs),
    hint: record.hint,
    reason: record.reason,
    in_flight: record.inFlight,
    accepted_how: record.acceptedHow,
    accepted_at: perhapsIso(record.acceptedAtMs),
    broken_answer: record.brokenAnswer,
    log: [...record.log],
    created_at: violation.createdAt,
    by: violation.by,
  };
}

function perhapsIso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
