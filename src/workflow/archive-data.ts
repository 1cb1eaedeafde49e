import type { Report, TowReadModel, ViolationReadModel } from './read-models';

/** What the archive keeps of a record. Files are kept forever and read alike, so their field names never change. */

export function archivedTow({ tow, version, reports, timeline }: TowReadModel) {
  return { tow, version, reports: reports.map(archivedReport), timeline };
}

function archivedReport(report: Report) {
  const { seq, id, kind, body, createdAtMs, deliveredAtMs } = report;
  return { seq, id, kind, body, createdAtMs, deliveredAtMs, ...archivedEntry(report) };
}

export function archivedViolation(record: ViolationReadModel) {
  const { violation, version, shadow, reference, references, serviceStatus, canTow } = record;
  const { ticket, ticketOverruled, acceptedHow, state, settledAtMs, tows } = record;
  const ofService = { reference, references, serviceStatus, canTow, towingReferenceIds: tows };
  const accepted = { acceptedHow, acceptedAtMs: state === 'accepted' ? settledAtMs : null };
  return { violation, version, shadow, ticket, ticketOverruled, ...ofService, ...accepted, ...archivedEntry(record) };
}

function archivedEntry(entry: Omit<Report, 'kind'> | ViolationReadModel) {
  const { state, revision, attempts, waitsFor, queue, giveUpAtMs, hint, reason, answer, log } = entry;
  const same = { state, revision, attempts, waitsFor, queue, giveUpAtMs, hint, reason, answer, log };
  return {
    ...same,
    inFlight: entry.attemptId !== null,
    mayHaveHadEffect: entry.possibleEffects > 0,
    nextAttemptAtMs: entry.nextAtMs,
    lastError: entry.error,
    brokenAnswer: entry.rawBody,
  };
}
