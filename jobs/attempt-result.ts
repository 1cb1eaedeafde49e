import type { OperationName } from '../src/contracts/service/operations';
import { KEPT_ANSWER_BYTES_MAX } from '../src/contracts/service/service';
import { storedObject } from '../src/domain/stored';
import type { AttemptResult } from '../src/domain/outbox/attempt';
import type { OutboxRecord } from '../src/domain/outbox/outbox-record';
import { httpStatusOf, type Verdict } from '../src/domain/service/policy';
import { isApplied, type StoredResult } from '../src/domain/outbox/settle-attempt';
import type { EntryKind, JsonObject } from '../src/domain/vocabulary';
import type { Metrics } from '../src/platform/log/metrics';
import type { EndedSpan } from '../src/platform/log/tracing';
import type { Claimed } from '../src/workflow/outbox/outbox-port';
import type { CallResult } from '../src/workflow/service/service-port';

/** A call whose result is stored. */
export interface StoredAttempt {
  readonly call: CallResult<OperationName>;
  readonly verdict: Verdict;
  readonly stored: StoredResult;
}

/** The result to store of a call; `decided` is what does not follow from the call alone. */
export function attemptResultOf(
  { exchange, data, rawBody, durationMs, isPermitSpent }: CallResult<OperationName>,
  decided: Omit<AttemptResult, 'exchange' | 'durationMs' | 'answer' | 'rawBody' | 'isPermitSpent'>,
): AttemptResult {
  const answer = keptAnswer(data);
  return {
    ...decided,
    exchange,
    durationMs: Math.round(durationMs),
    answer,
    rawBody: decided.verdict.next === 'accepted' && answer === null ? rawBody : null,
    isPermitSpent,
  };
}

/** The data of an answer; null when it is too long, and then the start of its raw body is kept. */
function keptAnswer(data: unknown): JsonObject | null {
  const answer = storedObject.safeParse(data);
  if (!answer.success || Buffer.byteLength(JSON.stringify(answer.data)) > KEPT_ANSWER_BYTES_MAX) return null;
  return answer.data;
}

/**
 * Counts an attempt in the metrics, unless its claim expired before it began.
 * @param sinceRecordedMs how long ago its fact was recorded.
 */
export function countAttempt(
  kind: EntryKind,
  { call, verdict, stored }: StoredAttempt,
  sinceRecordedMs: number,
  metrics: Metrics,
): void {
  if (call.exchange.kind === 'dropped') return;
  metrics.reportAttempted(kind, verdict.next, call);
  // A late answer to an entry that is settled already counts no delivery.
  if (verdict.next === 'accepted' && isApplied(stored)) metrics.reportDelivered(kind, sinceRecordedMs);
}

/** The span of an attempt in the trace of its tow or violation. */
export function spanOfAttempt<R extends OutboxRecord>(
  { record, entry }: Claimed<R>,
  operation: OperationName,
  { call, verdict }: StoredAttempt,
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
