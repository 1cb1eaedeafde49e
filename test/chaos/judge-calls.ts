import { isDeepStrictEqual } from 'node:util';
import type { PlayedTow } from './field-crew';
import { forbiddenCreates, type InvoiceEvidence } from './judge-creates';
import { repeatsIn, type RecordedCall } from './record';

/** The service's record of one tow's reports, compared with the facts. */
export interface CallFindings {
  readonly owed: number;
  /** Reports that the service did not accept. */
  readonly missing: number;
  readonly taken: number;
  /** Accepted more than once, which at-least-once delivery allows. */
  readonly repeated: number;
  /** Calls beyond the first of each report. */
  readonly retries: number;
  /** Calls that the service read after their sender gave up. */
  readonly readLate: number;
  readonly outOfOrder: number;
  readonly wrongBodies: number;
  readonly forbiddenSecondCreates: number;
  readonly thirdCreates: number;
  readonly problems: readonly string[];
}

/** Judges every call about one tow, answered or not. */
export function judgeCalls(played: PlayedTow, evidence: InvoiceEvidence): CallFindings {
  const { ref, expected } = played;
  const { calls } = evidence;
  const problems: string[] = [];
  const recorded = expected.map(({ kind }) => kind);
  // The service may read a call after its sender gave up; no sender can prevent that.
  const inTime = calls.filter(({ hung_up: hungUp }) => !hungUp);
  const arrived = collapse(inTime.map(({ operation }) => operation));
  const taken = calls.filter(({ effect }) => effect).map(({ operation }) => operation);
  const missing = recorded.filter((kind) => !taken.includes(kind));
  // A report leaves only after the one before it was accepted, so calls without effect count as well.
  const inOrder: string[] = recorded.filter((kind) => arrived.includes(kind));
  const isInOrder = isDeepStrictEqual(arrived, inOrder);
  const wrong = calls.filter(({ operation, body }) => {
    const report = expected.find(({ kind }) => kind === operation);
    return !report || !isDeepStrictEqual(body, report.body);
  });
  const creates = forbiddenCreates(evidence);
  if (missing.length > 0) problems.push(`${ref}: never taken: ${missing.join(', ')}`);
  if (!isInOrder) problems.push(`${ref}: recorded ${recorded.join(', ')}; arrived ${calls.map(shown).join(', ')}`);
  for (const call of wrong) problems.push(`${ref}: wrong body of ${call.operation}: ${JSON.stringify(call.body)}`);
  problems.push(...creates.problems.map((problem) => `${ref}: ${problem}: ${calls.map(shown).join(', ')}`));
  return {
    owed: recorded.length,
    missing: missing.length,
    taken: recorded.length - missing.length,
    repeated: taken.length - new Set(taken).size,
    retries: repeatsIn(calls),
    readLate: calls.length - inTime.length,
    outOfOrder: isInOrder ? 0 : 1,
    wrongBodies: wrong.length,
    forbiddenSecondCreates: creates.second,
    thirdCreates: creates.third,
    problems,
  };
}

/** Repetitions of the same report in a row are at-least-once delivery, not disorder. */
function collapse(operations: readonly string[]): string[] {
  return operations.filter((operation, index) => operation !== operations[index - 1]);
}

function shown({ at, operation, status, fault, hung_up: hungUp }: RecordedCall): string {
  const notes = [status ?? 'no answer', ...(fault === null ? [] : [fault]), ...(hungUp ? ['hung up'] : [])];
  return `${operation} ${at.slice(11, 23)} (${notes.join(', ')})`;
}
