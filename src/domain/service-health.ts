import { askedWaitMs, backoffMs, type RetrySettings } from './backoff';
import { isMisconfiguration, type Exchange } from './policy';

/** What exchanges say about the service as a whole, beyond the report they were about. */

/** What one exchange says about the service as a whole. */
export type ServiceHealth =
  /** It works, whatever it thinks of this report. */
  | 'alive'
  /** It fails, or cannot be reached; counted towards an outage. */
  | 'failing'
  /** Nothing was asked of it, or the fault lies with the connection. */
  | 'silent';

/** The longest wait between two tries of an outage, ms. When an outage begins is decided in circuits.ts. */
export const OUTAGE_PROBE_CAP_MS = 30_000;

/** Says what an exchange tells about the service: any answer below 500 except 408 and 429 shows that it works. */
export function serviceHealth(exchange: Exchange): ServiceHealth {
  switch (exchange.kind) {
    case 'accepted':
    case 'contract_broken':
      return 'alive';
    case 'refused': {
      if (isMisconfiguration(exchange)) return 'silent';
      const { httpStatus } = exchange;
      return httpStatus >= 500 || httpStatus === 408 || httpStatus === 429 ? 'failing' : 'alive';
    }
    case 'surely_not_sent':
    case 'unanswered':
      return isOwnFault(exchange.cause) ? 'silent' : 'failing';
    case 'not_the_service':
    case 'connection':
    case 'dropped':
      return 'silent';
  }
}

/** What we had to send could not be read, or was not as long as announced; the service has no part in that. */
function isOwnFault(cause: string): boolean {
  return cause === 'image_unreadable' || cause.startsWith('body_');
}

/**
 * How long an outage is left alone before one call may try again: backoff over the failed tries, capped lower than that
 * of a report, since a single call in half a minute hurts nobody.
 * @param jitter 0 to 1; only ever lengthens.
 */
export function outageDelayMs(
  exchange: Exchange,
  facts: { failedProbes: number; nowMs: number; jitter: number },
  settings: RetrySettings,
): number {
  const { failedProbes: failures, nowMs, jitter } = facts;
  const retryCapMs = Math.min(settings.retryCapMs, OUTAGE_PROBE_CAP_MS);
  return backoffMs({ failures, notBeforeMs: notBeforeOf(exchange), nowMs, jitter }, { ...settings, retryCapMs });
}

/** How long the service asked us to wait; 0 when it asked for nothing. */
export function askedMs(exchange: Exchange, nowMs: number): number {
  return askedWaitMs(notBeforeOf(exchange), nowMs);
}

/** 403: the operator may not make this call at all, so the next tow's will be refused too. */
export function isForbidden(exchange: Exchange): boolean {
  return exchange.kind === 'refused' && exchange.httpStatus === 403;
}

function notBeforeOf(exchange: Exchange): number | null {
  return 'notBeforeMs' in exchange ? exchange.notBeforeMs : null;
}
