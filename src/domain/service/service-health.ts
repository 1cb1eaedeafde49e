import { askedWaitMs, backoffMs, type RetrySettings } from '../outbox/backoff';
import { isMisconfiguration, isServerFault, notBeforeOf, OWN_CAUSES, type Exchange } from './policy';

/** What exchanges show about the service as a whole. */

export type ServiceHealth =
  /** It works, even if it refused this report. */
  | 'alive'
  /** It fails or is unreachable; counts towards an outage. */
  | 'failing'
  /** Nothing was sent to it, this process or the connection is at fault, or it refused the call for its rate limit. */
  | 'silent';

/** The longest wait between two probes of an outage, ms. circuits.ts decides when an outage begins. */
export const OUTAGE_PROBE_CAP_MS = 30_000;

/** Returns what an exchange shows about the service. Any answer below 500, except 408 and 429, shows that it works. */
export function serviceHealth(exchange: Exchange): ServiceHealth {
  switch (exchange.kind) {
    case 'accepted':
    case 'contract_broken':
      return 'alive';
    case 'refused': {
      if (isMisconfiguration(exchange)) return 'silent';
      const { httpStatus } = exchange;
      if (httpStatus === 429) return 'silent';
      return isServerFault(httpStatus) ? 'failing' : 'alive';
    }
    case 'surely_not_sent':
    case 'partly_sent':
    case 'unanswered':
      return OWN_FAULTS.has(exchange.cause) ? 'silent' : 'failing';
    case 'not_the_service':
    case 'connection':
    case 'dropped':
      return 'silent';
  }
}

/** The causes that show nothing about the service. */
const OWN_FAULTS: ReadonlySet<string> = new Set(
  Object.entries(OWN_CAUSES).flatMap(([cause, fault]) => (fault === 'ours' ? [cause] : [])),
);

/**
 * The wait before the next probe of an outage, ms: backoff by failed probes, with a lower cap than for a report,
 * since one call per half minute is harmless.
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

/** The wait that the service requested, ms; 0 when it requested none. */
export function askedMs(exchange: Exchange, nowMs: number): number {
  return askedWaitMs(notBeforeOf(exchange), nowMs);
}

/** True for a 403: the operator may not make this call at all, so other tows will be refused too. */
export function isForbidden(exchange: Exchange): boolean {
  return exchange.kind === 'refused' && exchange.httpStatus === 403;
}
