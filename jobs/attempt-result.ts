import type { OperationName } from '../src/contracts/operations';
import { KEPT_ANSWER_BYTES_MAX } from '../src/contracts/service';
import { storedObject } from '../src/contracts/stored';
import type { AttemptResult } from '../src/domain/attempt';
import type { SeenDifference } from '../src/domain/difference';
import { errorOf, messageOf } from '../src/domain/exchange-message';
import type { OutboxRecord } from '../src/domain/outbox-record';
import {
  httpStatusOf,
  isConnectionLoss,
  type PolicySettings,
  surelyHadNoEffect,
  type Verdict,
} from '../src/domain/policy';
import { askedMs, isForbidden, outageDelayMs, serviceHealth } from '../src/domain/service-health';
import type { Settled } from '../src/domain/settle-attempt';
import type { NewTask } from '../src/domain/tasks';
import type { AcceptedViolation } from '../src/domain/violation-names';
import type { EntryKind, JsonObject } from '../src/domain/vocabulary';
import type { Metrics } from '../src/platform/metrics';
import type { EndedSpan } from '../src/platform/tracing';
import type { Claimed } from '../src/workflow/outbox-port';
import type { CallResult } from '../src/workflow/service-port';

/** A finished call and its verdict. */
export interface Attempted<N extends OperationName = OperationName> {
  readonly call: CallResult<N>;
  readonly verdict: Verdict;
}

/** Failure counts of the connection and the outage at the claim. */
export type ClaimedCounts = Pick<Claimed<OutboxRecord>, 'failedProbes' | 'connectionFailures'>;

/** Time and jitter for turning the answer into delays; `jitter` is 0 to 1. */
export interface AttemptTiming {
  readonly startedAt: string;
  readonly nowMs: number;
  readonly jitter: number;
  readonly settings: PolicySettings;
}

/** Builds the stored result of an attempt. `task` is opened with it; `acceptedViolation`: see AttemptResult. */
export function resultOf(
  claimed: ClaimedCounts,
  {
    call,
    verdict,
    task,
    acceptedViolation,
    difference,
  }: Attempted & {
    readonly task: NewTask | null;
    readonly acceptedViolation: AcceptedViolation | null;
    readonly difference: SeenDifference | null;
  },
  timing: AttemptTiming,
): AttemptResult {
  const { exchange } = call;
  const { startedAt, nowMs, jitter, settings } = timing;
  const httpStatus = httpStatusOf(exchange);
  const isAccepted = verdict.next === 'accepted';
  const isForeign = exchange.kind === 'not_the_service';
  const isLoss = isConnectionLoss(exchange, claimed.connectionFailures);
  const answer = keptAnswer(call.data);
  return {
    verdict,
    attempt: {
      started_at: startedAt,
      duration_ms: Math.round(call.durationMs),
      outcome: verdict.next,
      http_status: httpStatus,
      message: messageOf(exchange),
    },
    error: isAccepted ? null : errorOf(exchange),
    answer,
    rawBody: isAccepted && answer === null ? call.rawBody : null,
    acceptedViolation,
    hadNoEffect: surelyHadNoEffect(exchange),
    isPermitSpent: call.isPermitSpent,
    // A report that is refused for such losses proves nothing about the connection of the others.
    wasAnswered: httpStatus !== null && !isForeign && !isLoss && verdict.next !== 'hold',
    isForeign,
    service: serviceHealth(exchange),
    isForbidden: isForbidden(exchange),
    askedMs: askedMs(exchange, nowMs),
    outageDelayMs: outageDelayMs(exchange, { failedProbes: claimed.failedProbes, nowMs, jitter }, settings),
    isConnectionLoss: isLoss,
    isTooOld: exchange.kind === 'dropped' && exchange.notBeforeMs === null,
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
  readonly stored: Settled;
  /** How long ago its fact was recorded, ms. */
  readonly sinceRecordedMs: number;
}

/** Counts an attempt in the metrics, unless its claim expired before it began. */
export function countAttempt(kind: EntryKind, attempted: StoredAttempt, metrics: Metrics): void {
  const { call, verdict, stored, sinceRecordedMs } = attempted;
  if (call.exchange.kind === 'dropped') return;
  metrics.reportAttempted(kind, verdict.next, call);
  // An entry that was settled meanwhile is not counted as delivered again.
  const settles = stored === 'done' || stored === 'late_accepted';
  if (verdict.next === 'accepted' && settles) metrics.reportDelivered(kind, sinceRecordedMs);
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
