import { askedWaitMs, backoffMs, type RetrySettings } from './backoff';
import { ENTRY_POLICY, type Entry } from './entry';

/**
 * The failure policy: what happened to an attempt, and what comes next. One table, one exhaustive switch, no clock and
 * no randomness of its own. Rows in the order of the table in the README, "How it fails".
 */

/** The cause of a connection whose fresh token was refused too. */
export const TOKEN_REFUSED = 'token_refused';

/** What happened when one call was made; facts in fields, never to be read back from a message. */
export type Exchange =
  /** The service answered 2xx and the body keeps the contract. */
  | { readonly kind: 'accepted'; readonly httpStatus: number }
  /**
   * The service answered 2xx, with no body or with a JSON object that breaks the contract: done on the wire, but a person
   * should look.
   */
  | { readonly kind: 'contract_broken'; readonly httpStatus: number; readonly issues: readonly string[] }
  /** A 2xx arrived whose body is no JSON object, or has no end: a page or a proxy answered in place of the service. */
  | { readonly kind: 'not_the_service'; readonly httpStatus: number; readonly cause: ForeignBody }
  /** The service answered something else. */
  | {
      readonly kind: 'refused';
      readonly httpStatus: number;
      /** The service's own words, null when there were none. */
      readonly message: string | null;
      readonly isJson: boolean;
      /** The earliest moment the service wants the next call, ms since the epoch. */
      readonly notBeforeMs: number | null;
    }
  /** DNS, connection refused, connect timeout: no byte of the request can have arrived. */
  | { readonly kind: 'surely_not_sent'; readonly cause: string }
  /** Bytes were sent and no status came back. */
  | { readonly kind: 'unanswered'; readonly cause: string }
  /** No token could be had, or a fresh one was refused: a condition of the connection, not of this report. */
  | { readonly kind: 'connection'; readonly cause: string; readonly notBeforeMs: number | null }
  /**
   * The right to send had grown too old before the first byte, or the budget of these calls or of token calls had no slot
   * left; nothing was sent. `notBeforeMs` tells when a slot will be free.
   */
  | { readonly kind: 'dropped'; readonly notBeforeMs: number | null };

/** Why a 2xx is not the service's answer. `broken_off`: the body was cut short. `too_long`: it was not read to its end. */
export type ForeignBody = 'not_json' | 'not_an_object' | 'broken_off' | 'too_long';

export const FOREIGN_BODY_WORDS: Readonly<Record<ForeignBody, string>> = {
  not_json: 'the body is not JSON',
  not_an_object: 'the body is no JSON object',
  broken_off: 'the body breaks off',
  too_long: 'the body is too long',
};

/** What an entry went through before this attempt. */
export interface AttemptHistory extends Readonly<
  Pick<Entry, 'failures' | 'notFound' | 'unanswered' | 'connectionLosses'>
> {
  readonly safeToRepeat: boolean;
  /** How often in a row the connection as a whole has failed, with any entry. */
  readonly connectionFailures: number;
}

/** The history of a claimed entry. */
export function historyOf(entry: Entry, connectionFailures: number): AttemptHistory {
  return { ...entry, safeToRepeat: ENTRY_POLICY[entry.kind].safeToRepeat, connectionFailures };
}

export interface PolicySettings extends RetrySettings {
  readonly notFoundRetries: number;
  readonly notFoundRetryMs: number;
  readonly unknownGraceMs: number;
}

/** Why a person may want to look twice at a refusal. */
export type Hint = 'perhaps_already_accepted';

/** What comes next for the report; delays are counted from the moment the outcome is stored. */
export type Verdict =
  | { readonly next: 'accepted'; readonly flag: 'contract_broken' | null }
  | { readonly next: 'refused'; readonly hint: Hint | null }
  | { readonly next: 'retry'; readonly delayMs: number; readonly because: RetryReason }
  /**
   * The effect is unknown: wait for proof this long, then claim decides between one more try and a person. With
   * `connectionDelayMs` the connection is broken for all calls, and is tried again after that time.
   */
  | { readonly next: 'unknown'; readonly delayMs: number; readonly connectionDelayMs?: number }
  /** Nothing was sent and nothing is wrong with the report: due again after the delay, no failure counted. */
  | { readonly next: 'hold'; readonly delayMs: number; readonly because: 'connection' | 'dropped' };

export type RetryReason = 'surely_not_sent' | 'throttled' | 'failed' | 'unanswered' | 'not_found';

/**
 * How many creates may be left unanswered before a person must decide: of an invoice never a third, of a violation never
 * a second.
 */
export const UNANSWERED_CREATES_MAX = { invoice: 2, violation: 1 } as const;

/** A report for which the connection broke so often, while it worked for all others, is itself what is wrong. */
export const CONNECTION_LOSSES_MAX = 3;

/** Statuses by which the service itself says that the call failed; any other 5xx may come from a gateway that gave up. */
const SAYS_IT_FAILED: readonly number[] = [500, 503];

/** Messages of a 404 that may mean the service lags behind itself (service-api 7.2). */
const NOT_FOUND_MESSAGES: readonly string[] = ['violation not found', 'plate number not found'];

/**
 * Decides what comes next after one attempt.
 * @param nowMs ms since the epoch, to turn the service's own times into delays.
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
  // A create that a page answered may have worked: it is never refused for that.
  const isOpenQuestion = exchange.kind === 'not_the_service' && !history.safeToRepeat;
  if (isLossTooMany && !isOpenQuestion)
    return { next: 'refused', hint: history.unanswered > 0 ? 'perhaps_already_accepted' : null };
  switch (exchange.kind) {
    case 'accepted':
      return { next: 'accepted', flag: null };
    case 'contract_broken':
      return { next: 'accepted', flag: 'contract_broken' };
    case 'dropped':
      return { next: 'hold', delayMs: askedWaitMs(exchange.notBeforeMs, nowMs), because: 'dropped' };
    case 'connection':
      return { next: 'hold', delayMs: connectionBackoff(exchange.notBeforeMs), because: 'connection' };
    case 'not_the_service':
      return history.safeToRepeat
        ? { next: 'hold', delayMs: connectionBackoff(null), because: 'connection' }
        : { next: 'unknown', delayMs: settings.unknownGraceMs, connectionDelayMs: connectionBackoff(null) };
    case 'surely_not_sent':
      return { next: 'retry', delayMs: backoff(), because: 'surely_not_sent' };
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

type Refused = Extract<Exchange, { kind: 'refused' }>;
type Waits = { readonly backoffMs: number; readonly askedMs: number };

function judgeStatus(exchange: Refused, history: AttemptHistory, settings: PolicySettings, waits: Waits): Verdict {
  const { httpStatus } = exchange;
  if (httpStatus === 429) return { next: 'retry', delayMs: waits.backoffMs, because: 'throttled' };
  if (httpStatus === 408 || httpStatus >= 500) return judgeServerFault(httpStatus, history, settings, waits);
  if (isLag(exchange) && history.notFound < settings.notFoundRetries) {
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
    const because = SAYS_IT_FAILED.includes(httpStatus) ? 'failed' : 'unanswered';
    return { next: 'retry', delayMs: waits.backoffMs, because };
  }
  // After an attempt without an answer only one more create may ever have an effect, whatever it answered.
  if (SAYS_IT_FAILED.includes(httpStatus) && history.unanswered === 0) {
    return { next: 'retry', delayMs: Math.max(settings.unknownGraceMs, waits.backoffMs), because: 'failed' };
  }
  return { next: 'unknown', delayMs: Math.max(settings.unknownGraceMs, waits.askedMs) };
}

/**
 * True when the service answered this very call as if nothing could be sent at all, while nothing else says so: a
 * redirect, a 404 that is no JSON, a 2xx that is not the service's, a fresh token refused.
 */
export function isConnectionLoss(exchange: Exchange, connectionFailures: number): boolean {
  if (connectionFailures > 0) return false;
  if (exchange.kind === 'connection') return exchange.cause === TOKEN_REFUSED;
  return exchange.kind === 'not_the_service' || (exchange.kind === 'refused' && isMisconfiguration(exchange));
}

/** A redirect, or a 404 that does not even speak JSON: the base address is wrong, and no report will pass. */
export function isMisconfiguration(exchange: Refused): boolean {
  if (exchange.httpStatus < 400) return true;
  // The shape of an error is not documented: the documented words in plain text are the service speaking.
  return exchange.httpStatus === 404 && !exchange.isJson && !isLag(exchange);
}

function isLag(exchange: Refused): boolean {
  return exchange.httpStatus === 404 && NOT_FOUND_MESSAGES.includes(exchange.message?.trim().toLowerCase() ?? '');
}

/**
 * True when an exchange by itself says that the service did nothing: such a create can be no second one, and no webhook
 * proves it.
 */
export function surelyHadNoEffect(exchange: Exchange): boolean {
  switch (exchange.kind) {
    case 'surely_not_sent':
    case 'connection':
    case 'dropped':
      return true;
    case 'refused':
      return exchange.httpStatus < 500 && exchange.httpStatus !== 408;
    case 'accepted':
    case 'contract_broken':
    case 'not_the_service':
    case 'unanswered':
      return false;
  }
}
