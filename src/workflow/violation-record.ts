import type { ViolationRecord } from '../contracts/violations';
import { versionNumber, type StoredViolation } from '../domain/outbox-record';
import { entryOf } from '../domain/stored-violation';

/** A stored violation as lists and pages read it. */
export function violationRecordOf(stored: StoredViolation): ViolationRecord {
  const entry = entryOf(stored);
  return {
    violation: stored.violation,
    state: entry.state,
    version: versionNumber(stored.version),
    revision: entry.revision,
    attempts: entry.attempts,
    failures: entry.failures,
    mayHaveHadEffect: entry.possibleEffects > 0,
    inFlight: entry.attemptId !== null,
    nextAttemptAtMs: entry.nextAtMs,
    waitsFor: entry.waitsFor,
    giveUpAtMs: entry.giveUpAtMs,
    lastError: entry.error,
    hint: entry.hint,
    reason: entry.reason,
    ticket: stored.ticket,
    ticketFailures: entry.ticketFailures,
    ticketOverruled: stored.ticketOverruled,
    reference: stored.reference,
    references: stored.references,
    serviceStatus: stored.serviceStatus,
    canTow: stored.canTow,
    acceptedHow: entry.acceptedHow,
    acceptedAtMs: entry.state === 'accepted' ? entry.settledAtMs : null,
    isAnswerQuestioned: stored.isAnswerQuestioned,
    answer: entry.answer,
    brokenAnswer: entry.rawBody,
    towingReferenceIds: stored.tows,
    log: entry.log,
  };
}

/** A violation as it is once its changed draft is committed. */
export function violationAfter(draft: StoredViolation): ViolationRecord {
  return violationRecordOf({ ...draft, version: String(versionNumber(draft.version) + 1) });
}
