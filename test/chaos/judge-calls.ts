import { isDeepStrictEqual } from 'node:util';
import type { Story } from './crew';
import { forbiddenCreates, type Evidence } from './judge-creates';
import { repeatsIn, type Call } from './record';

/** What the service recorded of one tow's reports, held against what the crew said. */
export interface CallFindings {
  readonly owed: number;
  /** Reports that the service never took. */
  readonly missing: number;
  readonly taken: number;
  /** Taken more than once: at least once is the promise. */
  readonly repeated: number;
  /** Calls beyond the first of each report. */
  readonly retries: number;
  /** Calls that the service read when their sender had given up on them. */
  readonly readLate: number;
  readonly outOfOrder: number;
  readonly wrongBodies: number;
  readonly forbiddenSecondCreates: number;
  readonly thirdCreates: number;
  readonly problems: readonly string[];
}

/** Judges every call about one tow, answered or not. */
export function judgeCalls(story: Story, evidence: Evidence): CallFindings {
  const { ref, expected } = story;
  const { calls } = evidence;
  const problems: string[] = [];
  const said = expected.map(({ kind }) => kind);
  // The service may read what lay on the way for longer than its sender waited; no sender can call that back.
  const inTime = calls.filter(({ hung_up: hungUp }) => !hungUp);
  const arrived = collapse(inTime.map(({ operation }) => operation));
  const taken = calls.filter(({ effect }) => effect).map(({ operation }) => operation);
  const missing = said.filter((kind) => !taken.includes(kind));
  // A report leaves only when the one before it was taken, so every call counts here, not only those that worked.
  const inOrder: string[] = said.filter((kind) => arrived.includes(kind));
  const isInOrder = isDeepStrictEqual(arrived, inOrder);
  const wrong = calls.filter(({ operation, body }) => {
    const report = expected.find(({ kind }) => kind === operation);
    return !report || !isDeepStrictEqual(body, report.body);
  });
  const creates = forbiddenCreates(evidence);
  if (missing.length > 0) problems.push(`${ref}: never taken: ${missing.join(', ')}`);
  if (!isInOrder) problems.push(`${ref}: said ${said.join(', ')}; arrived ${calls.map(shown).join(', ')}`);
  for (const call of wrong) problems.push(`${ref}: wrong body of ${call.operation}: ${JSON.stringify(call.body)}`);
  problems.push(...creates.problems.map((problem) => `${ref}: ${problem}: ${calls.map(shown).join(', ')}`));
  return {
    owed: said.length,
    missing: missing.length,
    taken: said.length - missing.length,
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

/** The same report several times in a row is at-least-once, not disorder. */
function collapse(operations: readonly string[]): string[] {
  return operations.filter((operation, index) => operation !== operations[index - 1]);
}

function shown({ at, operation, status, fault, hung_up: hungUp }: Call): string {
  const notes = [status ?? 'no answer', ...(fault === null ? [] : [fault]), ...(hungUp ? ['hung up'] : [])];
  return `${operation} ${at.slice(11, 23)} (${notes.join(', ')})`;
}
