import type { AttemptHistory, Exchange, PolicySettings } from '../../src/domain/policy';
import { nowMs } from './tows';

/** Attempts as the tests of the failure policy need them. */

/** The defaults of the design's table of variables. */
export const SETTINGS: PolicySettings = {
  retryBaseMs: 1000,
  retryCapMs: 300_000,
  notFoundRetries: 3,
  notFoundRetryMs: 5000,
  unknownGraceMs: 15_000,
};

const untried = { failures: 0, notFound: 0, unanswered: 0, connectionFailures: 0, connectionLosses: 0 };

/** A call that may be repeated, before its first attempt. */
export const repeatable: AttemptHistory = { safeToRepeat: true, ...untried };

/** A call that may make a second thing when repeated (create invoice, create violation), before its first attempt. */
export const once: AttemptHistory = { safeToRepeat: false, ...untried };

export type Refused = Extract<Exchange, { kind: 'refused' }>;

/** An answer that is not 2xx, in JSON, with nothing asked for. */
export function refused(httpStatus: number, changes: Partial<Refused> = {}): Refused {
  return { kind: 'refused', httpStatus, message: null, isJson: true, notBeforeMs: null, ...changes };
}

export const surelyNotSent: Exchange = { kind: 'surely_not_sent', cause: 'connection refused' };
export const unanswered: Exchange = { kind: 'unanswered', cause: 'timeout' };

/** A moment so many milliseconds from now. */
export const inMs = (ms: number): number => nowMs + ms;
