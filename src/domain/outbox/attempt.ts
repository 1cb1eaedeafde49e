import type { SeenDifference } from '../service/difference';
import type { LoggedOutcome, Entry, EntryAttempt } from './entry';
import type { AttemptRight } from './lease';
import { messageOf } from './exchange-message';
import { canonicalJson } from '../json';
import type { OutboxRecord } from './outbox-record';
import { httpStatusOf, isConnectionLoss, type Exchange, type Verdict } from '../service/policy';
import type { NewTask } from '../ops/tasks';
import type { AcceptedViolation } from '../violation/stored-violation';
import type { JsonObject } from '../vocabulary';

/** One attempt: its result, and what follows from its exchange. */

export interface AttemptResult {
  readonly exchange: Exchange;
  readonly verdict: Verdict;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Whole ms. */
  readonly durationMs: number;
  /** The data of the answer, kept with the entry. */
  readonly answer: JsonObject | null;
  /** The raw body; kept when the answer broke the contract. */
  readonly rawBody: string | null;
  /** What the answer says about the created violation; null when it names none. */
  readonly acceptedViolation: AcceptedViolation | null;
  /** False while its permit is unused and can be given back. */
  readonly isPermitSpent: boolean;
  /** The wait before the next probe of an outage that this attempt begins or confirms, ms. */
  readonly outageDelayMs: number;
  /** The task to open, if any. */
  readonly task: NewTask | null;
  /** How an accepting answer differs from its contract; null when it does not. */
  readonly difference: SeenDifference | null;
}

export interface EndedAttempt {
  readonly right: AttemptRight;
  readonly result: AttemptResult;
}

/**
 * True when the entry has the content that was sent. After a failover it may be another one of the same number: what is
 * recorded or corrected again in place of a lost write gets the number of that.
 */
export function hasSentBody(record: OutboxRecord, entry: Entry, right: AttemptRight): boolean {
  const { entry: sent } = right;
  if (entry.revision !== sent.revision) return false;
  // An entry that was never corrected has the body that it was created with.
  if (sent.revision === 1 && entry.createdAtMs === sent.createdAtMs) return true;
  return canonicalJson(bodyOf(record, entry)) === canonicalJson(bodyOf(right.record, sent));
}

function bodyOf(record: OutboxRecord, entry: Entry): unknown {
  if (record.kind === 'tow') return entry.body;
  const { form, images } = record.violation;
  // An image that is uploaded again has another file, and the same content.
  return { form, images: images.map(({ name, contentType, sha256 }) => [name, contentType, sha256]) };
}

/** The attempt as the log of its entry keeps it. */
export function loggedAttempt({ right, result }: EndedAttempt, outcome: LoggedOutcome): EntryAttempt {
  const { exchange, startedAt, durationMs } = result;
  return {
    attempt_id: right.attemptId,
    started_at: startedAt,
    duration_ms: durationMs,
    outcome,
    http_status: httpStatusOf(exchange),
    message: messageOf(exchange),
  };
}

/** True when the service answered, with any status that is not one of a wrong address. */
export function wasAnswered({ right, result }: EndedAttempt): boolean {
  const { exchange, verdict } = result;
  if (httpStatusOf(exchange) === null || isForeign(exchange) || verdict.next === 'hold') return false;
  // A report that is refused for such losses proves nothing about the connection of the others.
  return !isConnectionLoss(exchange, right.connectionFailures);
}

/** True when something answered in place of the service. */
export function isForeign(exchange: Exchange): boolean {
  return exchange.kind === 'not_the_service';
}

/** True when nothing was sent because the permission to send had expired. */
export function isTooOld(exchange: Exchange): boolean {
  return exchange.kind === 'dropped' && exchange.cause === 'permission_expired';
}
