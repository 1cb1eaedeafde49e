import { KEPT_ANSWER_BYTES_MAX } from '../src/contracts/service';
import { storedObject } from '../src/contracts/stored';
import {
  FOREIGN_BODY_WORDS,
  isConnectionLoss,
  surelyHadNoEffect,
  type Exchange,
  type PolicySettings,
  type Verdict,
} from '../src/domain/policy';
import { askedMs, isForbidden, outageDelayMs, serviceHealth } from '../src/domain/service-health';
import type { OperationName } from '../src/contracts/operations';
import type { OutboxRecord } from '../src/domain/outbox-record';
import type { AttemptResult } from '../src/domain/settle-attempt';
import type { NewTask } from '../src/domain/tasks';
import type { JsonObject } from '../src/domain/vocabulary';
import type { ServiceName } from '../src/domain/violation-names';
import type { Claimed } from '../src/workflow/outbox-port';
import type { CallResult } from '../src/workflow/service-port';

/** A call that was made, and what comes next. */
export interface Attempted<N extends OperationName = OperationName> {
  readonly call: CallResult<N>;
  readonly verdict: Verdict;
}

/** What the claim knew of the connection and the outage, of whatever kind of work it is. */
export type ClaimedCounts = Pick<Claimed<OutboxRecord>, 'failedProbes' | 'connectionFailures'>;

/** When what was said by the call is told as a moment or a wait: now, and how much a wait is lengthened (0 to 1). */
export interface Pace {
  readonly startedAt: string;
  readonly nowMs: number;
  readonly jitter: number;
  readonly settings: PolicySettings;
}

/** Everything that is stored of one attempt; `task`: what a person must look at because of it; `named`: see AttemptResult. */
export function resultOf(
  claimed: ClaimedCounts,
  { call, verdict, task, named }: Attempted & { readonly task: NewTask | null; readonly named: ServiceName | null },
  pace: Pace,
): AttemptResult {
  const { exchange } = call;
  const { startedAt, nowMs, jitter, settings } = pace;
  const httpStatus = httpStatusOf(exchange);
  const isAccepted = verdict.next === 'accepted';
  const isForeign = exchange.kind === 'not_the_service';
  const answer = keptAnswer(call.data);
  return {
    verdict,
    attempt: {
      started_at: startedAt,
      duration_ms: Math.round(call.durationMs),
      outcome: verdict.next,
      http_status: httpStatus,
      message: wordsOf(exchange),
    },
    error: isAccepted ? null : { http_status: httpStatus, message: wordsOf(exchange) },
    answer,
    rawBody: isAccepted && answer === null ? call.rawBody : null,
    named,
    hadNoEffect: surelyHadNoEffect(exchange),
    isPermitSpent: call.isPermitSpent,
    wasAnswered: httpStatus !== null && !isForeign && verdict.next !== 'hold',
    isForeign,
    service: serviceHealth(exchange),
    isForbidden: isForbidden(exchange),
    askedMs: askedMs(exchange, nowMs),
    outageDelayMs: outageDelayMs(exchange, { failedProbes: claimed.failedProbes, nowMs, jitter }, settings),
    isConnectionLoss: isConnectionLoss(exchange, claimed.connectionFailures),
    isTooOld: exchange.kind === 'dropped' && exchange.notBeforeMs === null,
    task,
  };
}

/** The data of an answer, unless it is too long to be kept: then the first part of its raw body is. */
function keptAnswer(data: unknown): JsonObject | null {
  const answer = storedObject.safeParse(data);
  if (!answer.success || Buffer.byteLength(JSON.stringify(answer.data)) > KEPT_ANSWER_BYTES_MAX) return null;
  return answer.data;
}

/** The status that arrived, null when none did. */
export function httpStatusOf(exchange: Exchange): number | null {
  return 'httpStatus' in exchange ? exchange.httpStatus : null;
}

/** The words of a refusal: the service's own, or what a page in its place was. */
export function refusalWords(exchange: Exchange): string | null {
  if (exchange.kind === 'not_the_service') return FOREIGN_BODY_WORDS[exchange.cause];
  return exchange.kind === 'refused' ? exchange.message : null;
}

/** The words are kept several times: with the report, in its attempts and in tasks. */
const BROKEN_WORDS_MAX = 500;

/** What happened in words: the service's own where it had any. */
export function wordsOf(exchange: Exchange): string {
  switch (exchange.kind) {
    case 'accepted':
      return 'accepted';
    case 'contract_broken':
      return `the answer breaks the contract: ${exchange.issues.join('; ')}`.slice(0, BROKEN_WORDS_MAX);
    case 'not_the_service':
      return `HTTP ${exchange.httpStatus}, and not from the service: ${FOREIGN_BODY_WORDS[exchange.cause]}`;
    case 'refused':
      return exchange.message ?? `HTTP ${exchange.httpStatus}`;
    case 'surely_not_sent':
    case 'unanswered':
    case 'connection':
      return exchange.cause;
    case 'dropped':
      return 'not sent: the claim had grown too old, or the budget had no slot';
  }
}
