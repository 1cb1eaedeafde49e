import type { AttemptHistory, Exchange, PolicySettings } from '../../src/domain/service/policy';
import { refusedWith } from '../support/exchanges';
import { nowMs } from './tows';

/** Attempts for the tests of the failure policy. */

/** The default settings. */
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

/** A create, which may make a second thing when repeated, before its first attempt. */
export const once: AttemptHistory = { safeToRepeat: false, ...untried };

export type RefusedAttempt = Extract<Exchange, { kind: 'refused' }>;

/** A JSON answer other than 2xx, without a requested wait. */
export function refused(httpStatus: number, changes: Partial<RefusedAttempt> = {}): RefusedAttempt {
  return { ...refusedWith(httpStatus), ...changes };
}

export const surelyNotSent: Exchange = { kind: 'surely_not_sent', cause: 'connection refused' };
export const partlySent: Exchange = { kind: 'partly_sent', cause: 'connection reset' };
export const unanswered: Exchange = { kind: 'unanswered', cause: 'timeout' };

/** A time this many milliseconds from now. */
export const inMs = (ms: number): number => nowMs + ms;
