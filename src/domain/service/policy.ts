import type { Hint } from '../vocabulary';
import { askedWaitMs, backoffMs, type RetrySettings } from '../outbox/backoff';
import { ENTRY_POLICY, type Entry } from '../outbox/entry';

/**
 * The failure policy: turns the result of an attempt into what happens next. One exhaustive switch, without clock or
 * randomness. The order is that of docs/failure-policy.md.
 */

/** The cause when a fresh token is refused too. */
export const TOKEN_REFUSED = 'token_refused';

/** The result of one call. Facts are in fields and never parsed back from a message. */
export type Exchange =
  /**
   * A 2xx whose body fulfills the contract, or could be read nevertheless. `differences` lists what was tolerated,
   * `field: rule` without values: it is counted, and opens no task.
   */
  | { readonly kind: 'accepted'; readonly httpStatus: number; readonly differences?: readonly string[] }
  /**
   * A 2xx without body, or whose JSON object cannot be read by the contract: it took effect, but a person should check
   * one such answer. `issues` are `field: rule` without values.
   */
  | { readonly kind: 'contract_broken'; readonly httpStatus: number; readonly issues: readonly string[] }
  /** A 2xx whose body is not a JSON object or is truncated: a page or proxy answered in place of the service. */
  | { readonly kind: 'not_the_service'; readonly httpStatus: number; readonly cause: ForeignBody }
  /** Any other status. */
  | {
      readonly kind: 'refused';
      readonly httpStatus: number;
      /** The message of the service; null when it sent none. */
      readonly message: string | null;
      readonly isJson: boolean;
      /** The earliest time for the next call, ms since the epoch. */
      readonly notBeforeMs: number | null;
      /** True if the answer came before the last byte of the body was sent: the service cannot have the whole request. */
      readonly isPartlySent?: boolean;
    }
  /**
   * DNS failure, connection refused or connect timeout: no byte of the request can have arrived. `cause` is a word of
   * `OWN_CAUSES`, or one that the system or a proxy gave; with `token_` before it, the service failed on the token call.
   */
  | { readonly kind: 'surely_not_sent'; readonly cause: string; readonly notBeforeMs?: number | null }
  /** Bytes were sent, but the last byte of the body surely not: the service cannot have the whole request. */
  | { readonly kind: 'partly_sent'; readonly cause: string }
  /** The whole request may have been sent, and no status came back. */
  | { readonly kind: 'unanswered'; readonly cause: string }
  /** The service refused a token, or a fresh one: a fault of the connection, not of this report. */
  | { readonly kind: 'connection'; readonly cause: string; readonly notBeforeMs: number | null }
  /** Nothing was sent. `notBeforeMs` is when it may be; null when its permission expired. */
  | { readonly kind: 'dropped'; readonly cause: DroppedCause; readonly notBeforeMs: number | null };

/**
 * Why a call was not sent.
 *
 * - permission_expired: its claim or its permit expired before the first byte.
 * - no_permit: the rate limit of these calls or of token calls had no permit, or could not be asked for one.
 * - no_token: towhook could not share a token: Redis failed, or another process is renewing it for too long.
 * - asked_by_another: another process asks the service the same question.
 * - services_differ: another worker calls a different service.
 */
export const DROPPED_CAUSES = [
  'permission_expired',
  'no_permit',
  'no_token',
  'asked_by_another',
  'services_differ',
] as const;
export type DroppedCause = (typeof DROPPED_CAUSES)[number];

/**
 * Why this process ended an attempt without an answer, and whether the service may be at fault.
 *
 * - timeout, connect_timeout, stalled: nothing came, or nothing went on, for too long.
 * - answered_early: something came before a byte of the request was sent.
 * - stopped: the right to send was lost, or the process ends.
 * - image_unreadable, body_unreadable, body_length_wrong: an image is missing, or is not what was stored.
 */
export const OWN_CAUSES = {
  timeout: 'service',
  connect_timeout: 'service',
  stalled: 'service',
  answered_early: 'service',
  stopped: 'ours',
  image_unreadable: 'ours',
  body_unreadable: 'ours',
  body_length_wrong: 'ours',
} as const;
export type OwnCause = keyof typeof OWN_CAUSES;

/** Why a 2xx is not an answer of the service. `broken_off`: truncated. `too_long`: not read to its end. */
export type ForeignBody = 'not_json' | 'not_an_object' | 'broken_off' | 'too_long' | UnreadableEncoding;

/** A content encoding that cannot be read, or not in this body. Its name has at most 20 letters, digits and dashes. */
export type UnreadableEncoding = `encoding_${string}`;

export function isUnreadableEncoding(cause: string): cause is UnreadableEncoding {
  return cause.startsWith('encoding_');
}

/** The history of an entry before this attempt. */
export interface AttemptHistory extends Readonly<
  Pick<Entry, 'failures' | 'notFound' | 'unanswered' | 'connectionLosses'>
> {
  readonly safeToRepeat: boolean;
  /** Consecutive connection failures, of all entries. */
  readonly connectionFailures: number;
}

/** The history of an entry as it was claimed, with the connection failures that the claim names. */
export function historyOf(entry: Entry, connectionFailures: number): AttemptHistory {
  const { kind, failures, notFound, unanswered, connectionLosses } = entry;
  const { safeToRepeat } = ENTRY_POLICY[kind];
  return { failures, notFound, unanswered, connectionLosses, safeToRepeat, connectionFailures };
}

export interface PolicySettings extends RetrySettings {
  readonly notFoundRetries: number;
  readonly notFoundRetryMs: number;
  readonly unknownGraceMs: number;
}

/** What happens next with the report. Delays count from when the outcome is stored. */
export type Verdict =
  | { readonly next: 'accepted' }
  | { readonly next: 'refused'; readonly hint: Hint | null }
  | { readonly next: 'retry'; readonly delayMs: number; readonly because: RetryReason }
  /**
   * The outcome is unknown. After `delayMs` without proof the claim decides between another attempt and escalation.
   * With `connectionDelayMs` the connection is broken for all calls and is probed after that time.
   */
  | { readonly next: 'unknown'; readonly delayMs: number; readonly connectionDelayMs?: number }
  /**
   * The report is not at fault. `dropped`: it was not sent. `connection`: there was no token, a fresh one was refused, or
   * something answered in place of the service (a redirect, a 404 page, a foreign 2xx). Due after the delay. The call
   * counts neither as an attempt nor as a failure of the report.
   */
  | { readonly next: 'hold'; readonly delayMs: number; readonly because: 'connection' | 'dropped' };

export type RetryReason = 'surely_not_sent' | 'partly_sent' | 'throttled' | 'failed' | 'unanswered' | 'not_found';

/** When the connection breaks this often for one report while it works for others, the report is at fault. */
export const CONNECTION_LOSSES_MAX = 3;

/** Statuses with which the service itself reports a failure. Any other 5xx may come from a gateway. */
const OWN_FAILURE_STATUSES: readonly number[] = [500, 503];

/** Messages of a 404 that may mean that the service has not caught up with itself (docs/service-api.md#tow-errors). */
const NOT_FOUND_MESSAGES: readonly string[] = ['violation not found', 'plate number not found'];

/**
 * Decides what happens after one attempt.
 * @param nowMs ms since the epoch, to turn times of the service into delays.
 * @param jitter 0 to 1; only ever lengthens a delay.
 */
export function judge(
  exchange: Exchange,
  history: AttemptHistory,
  settings: PolicySettings,
  nowMs: number,
  jitter: number,
): Verdict {
  const wait = (failures: number, notBeforeMs: number | null) =>
    backoffMs({ failures, notBeforeMs, nowMs, jitter }, settings);
  const backoff = (notBeforeMs: number | null = null) => wait(history.failures, notBeforeMs);
  const connectionBackoff = (notBeforeMs: number | null) => wait(history.connectionFailures, notBeforeMs);
  const isLossTooMany =
    isConnectionLoss(exchange, history.connectionFailures) && history.connectionLosses + 1 >= CONNECTION_LOSSES_MAX;
  // A create answered by a page may have taken effect, so it is never refused for that.
  const isOpenQuestion = exchange.kind === 'not_the_service' && !history.safeToRepeat;
  if (isLossTooMany && !isOpenQuestion)
    return { next: 'refused', hint: history.unanswered > 0 ? 'perhaps_already_accepted' : null };
  switch (exchange.kind) {
    case 'accepted':
    case 'contract_broken':
      return { next: 'accepted' };
    case 'dropped':
      return { next: 'hold', delayMs: askedWaitMs(exchange.notBeforeMs, nowMs), because: 'dropped' };
    case 'connection':
      return { next: 'hold', delayMs: connectionBackoff(exchange.notBeforeMs), because: 'connection' };
    case 'not_the_service':
      return history.safeToRepeat
        ? { next: 'hold', delayMs: connectionBackoff(null), because: 'connection' }
        : { next: 'unknown', delayMs: settings.unknownGraceMs, connectionDelayMs: connectionBackoff(null) };
    case 'surely_not_sent':
    case 'partly_sent':
      return { next: 'retry', delayMs: backoff(notBeforeOf(exchange)), because: exchange.kind };
    case 'unanswered':
      return history.safeToRepeat
        ? { next: 'retry', delayMs: backoff(), because: 'unanswered' }
        : { next: 'unknown', delayMs: settings.unknownGraceMs };
    case 'refused':
      if (isMisconfiguration(exchange)) {
        return { next: 'hold', delayMs: connectionBackoff(exchange.notBeforeMs), because: 'connection' };
      }
      return judgeStatus(exchange, history, settings, {
        backoffMs: backoff(exchange.notBeforeMs),
        askedMs: askedWaitMs(exchange.notBeforeMs, nowMs),
      });
  }
}

export type RefusedExchange = Extract<Exchange, { kind: 'refused' }>;
type Waits = { readonly backoffMs: number; readonly askedMs: number };

function judgeStatus(
  exchange: RefusedExchange,
  history: AttemptHistory,
  settings: PolicySettings,
  waits: Waits,
): Verdict {
  const { httpStatus } = exchange;
  // The budget of the call is closed for all. It opens when the service asked for it, so more wait would not help.
  if (httpStatus === 429) {
    const delayMs = exchange.notBeforeMs === null ? waits.backoffMs : waits.askedMs;
    return { next: 'retry', delayMs, because: 'throttled' };
  }
  if (isServerFault(httpStatus)) {
    // Such as a proxy that waited too long for the rest of a form.
    if (exchange.isPartlySent === true) return { next: 'retry', delayMs: waits.backoffMs, because: 'partly_sent' };
    return judgeServerFault(httpStatus, history, settings, waits);
  }
  // It answers the second create, after an unanswered one. A third is never sent without a person's decision.
  const mayLag = history.safeToRepeat || history.unanswered === 0;
  if (mayLag && isLag(exchange) && history.notFound < settings.notFoundRetries) {
    return { next: 'retry', delayMs: Math.max(settings.notFoundRetryMs, waits.askedMs), because: 'not_found' };
  }
  return { next: 'refused', hint: history.unanswered > 0 ? 'perhaps_already_accepted' : null };
}

function judgeServerFault(
  httpStatus: number,
  history: AttemptHistory,
  settings: PolicySettings,
  waits: Waits,
): Verdict {
  if (history.safeToRepeat) {
    const because = OWN_FAILURE_STATUSES.includes(httpStatus) ? 'failed' : 'unanswered';
    return { next: 'retry', delayMs: waits.backoffMs, because };
  }
  // After an unanswered attempt only one more create may take effect, so its answer does not matter.
  if (OWN_FAILURE_STATUSES.includes(httpStatus) && history.unanswered === 0) {
    return { next: 'retry', delayMs: Math.max(settings.unknownGraceMs, waits.backoffMs), because: 'failed' };
  }
  return { next: 'unknown', delayMs: Math.max(settings.unknownGraceMs, waits.askedMs) };
}

/**
 * True when this call alone met an answer that would block all calls, while the connection works otherwise: a
 * redirect, a 404 that is not JSON, a 2xx that is not from the service, or a refused fresh token.
 */
export function isConnectionLoss(exchange: Exchange, connectionFailures: number): boolean {
  if (connectionFailures > 0) return false;
  if (exchange.kind === 'connection') return exchange.cause === TOKEN_REFUSED;
  return exchange.kind === 'not_the_service' || (exchange.kind === 'refused' && isMisconfiguration(exchange));
}

/** True for a redirect or a 404 that is not JSON: the base address is wrong, and no report can pass. */
export function isMisconfiguration(exchange: RefusedExchange): boolean {
  if (exchange.httpStatus < 400) return true;
  // The format of errors is not documented, so the documented messages also count as plain text.
  return exchange.httpStatus === 404 && !exchange.isJson && !isLag(exchange);
}

function isLag(exchange: RefusedExchange): boolean {
  return exchange.httpStatus === 404 && NOT_FOUND_MESSAGES.includes(exchange.message?.trim().toLowerCase() ?? '');
}

/** True for the status of a fault of the service or of a gateway before it: the call may have taken effect. */
export function isServerFault(httpStatus: number): boolean {
  return httpStatus === 408 || httpStatus >= 500;
}

/** The earliest time for the next call, ms since the epoch; null when the service requested no wait. */
export function notBeforeOf(exchange: Exchange): number | null {
  return 'notBeforeMs' in exchange ? (exchange.notBeforeMs ?? null) : null;
}

/** The status that arrived, null when none did. */
export function httpStatusOf(exchange: Exchange): number | null {
  return 'httpStatus' in exchange ? exchange.httpStatus : null;
}

/**
 * True when the exchange proves that the service did nothing. Another create is then safe, and no webhook can prove
 * this one.
 */
export function surelyHadNoEffect(exchange: Exchange): boolean {
  switch (exchange.kind) {
    case 'surely_not_sent':
    // Open question Q16: the service creates nothing from a form whose end it never received.
    case 'partly_sent':
    case 'connection':
    case 'dropped':
      return true;
    case 'refused':
      return !isServerFault(exchange.httpStatus) || exchange.isPartlySent === true;
    case 'accepted':
    case 'contract_broken':
    case 'not_the_service':
    case 'unanswered':
      return false;
  }
}
