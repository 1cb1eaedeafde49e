import type { OperationName } from '../src/contracts/operations';
import { KEPT_ANSWER_BYTES_MAX } from '../src/contracts/service';
import { storedObject } from '../src/contracts/stored';
import type { AttemptResult } from '../src/domain/attempt';
import type { OutboxRecord } from '../src/domain/outbox-record';
import { httpStatusOf, type PolicySettings, type Verdict } from '../src/domain/policy';
import { outageDelayMs } from '../src/domain/service-health';
import { isApplied, type StoredResult } from '../src/domain/settle-attempt';
import type { EntryKind, JsonObject } from '../src/domain/vocabulary';
import type { Metrics } from '../src/platform/metrics';
import type { EndedSpan } from '../src/platform/tracing';
import type { Claimed } from '../src/workflow/outbox-port';
import type { CallResult } from '../src/workflow/service-port';

/** A finished call and its verdict. */
export interface Attempted {
  readonly call: CallResult<OperationName>;
  readonly verdict: Verdict;
}

/** Time and jitter for turning the answer into delays; `jitter` is 0 to 1. */
export interface AttemptTiming {
  readonly startedAt: string;
  readonly nowMs: number;
  readonly jitter: number;
  readonly settings: PolicySettings;
}

/** Builds the stored result of an attempt. */
export function attemptResultOf(
  { failedProbes }: Pick<Claimed<OutboxRecord>, 'failedProbes'>,
  {
    call,
    verdict,
    task,
    acceptedViolation,
    difference,
  }: Attempted & Pick<AttemptResult, 'task' | 'acceptedViolation' | 'difference'>,
  { startedAt, nowMs, jitter, settings }: AttemptTiming,
): AttemptResult {
  const { exchange } = call;
  const answer = keptAnswer(call.data);
  return {
    exchange,
    verdict,
    startedAt,
    durationMs: Math.round(call.durationMs),
    answer,
    rawBody: verdict.next === 'accepted' && answer === null ? call.rawBody : null,
    acceptedViolation,
    isPermitSpent: call.isPermitSpent,
    outageDelayMs: outageDelayMs(exchange, { failedProbes, nowMs, jitter }, settings),
    task,
    difference,
  };
}

/** The data of an answer; null when it is too long, and then the start of its raw body is kept. */
function keptAnswer(data: unknown): JsonObject | null {
  const answer = storedObject.safeParse(data);
  if (!answer.success || Buffer.byteLength(JSON.stringify(answer.data)) > KEPT_ANSWER_BYTES_MAX) return null;
  return answer.data;
}

export interface StoredAttempt extends Attempted {
  readonly stored: StoredResult;
  /** How long ago its fact was recorded, ms. */
  readonly sinceRecordedMs: number;
}

/** Counts an attempt in the metrics, unless its claim expired before it began. */
export function countAttempt(kind: EntryKind, attempted: StoredAttempt, metrics: Metrics): void {
  const { call, verdict, stored, sinceRecordedMs } = attempted;
  if (call.exchange.kind === 'dropped') return;
  metrics.reportAttempted(kind, verdict.next, call);
  // A late answer to an entry that is settled already counts no delivery.
  if (verdict.next === 'accepted' && isApplied(stored)) metrics.reportDelivered(kind, sinceRecordedMs);
}

/** The span of an attempt in the trace of its tow or violation. */
export function spanOfAttempt<R extends OutboxRecord>(
  { record, entry }: Claimed<R>,
  { call, verdict, operation }: Attempted & { readonly operation: OperationName },
  endedAtMs: number,
): EndedSpan {
  return {
    subject: record.kind === 'tow' ? { kind: 'tow', id: record.ref } : { kind: 'violation', id: record.id },
    name: `send ${operation}`,
    place: 'later',
    kind: 'called',
    endedAtMs,
    durationMs: call.durationMs,
    isFailed: verdict.next !== 'accepted',
    attributes: {
      attempt: entry.attempts,
      http_status: httpStatusOf(call.exchange),
      outcome: verdict.next,
      was_sent: call.wasSent,
      waited_ms: Math.max(0, endedAtMs - call.durationMs - entry.createdAtMs),
    },
  };
}
