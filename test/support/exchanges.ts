import type { Exchange } from '../../src/domain/service/policy';

/** Exchanges with the service, for the results of attempts. */

type ExchangeOf<K extends Exchange['kind']> = Extract<Exchange, { kind: K }>;

export const ACCEPTING: Exchange = { kind: 'accepted', httpStatus: 200 };

/** The process ended its own call, which may have taken effect. It shows nothing about the service. */
export const STOPPED: Exchange = { kind: 'unanswered', cause: 'stopped' };

/** The process ended its own call before the first byte. It shows nothing about the service. */
export const NOT_SENT: Exchange = { kind: 'surely_not_sent', cause: 'stopped' };

/** The claim expired before the first byte. */
export const TOO_OLD: Exchange = { kind: 'dropped', cause: 'permission_expired', notBeforeMs: null };

/** The rate limit had no permit, and has one again by now. */
export const NO_PERMIT: Exchange = { kind: 'dropped', cause: 'no_permit', notBeforeMs: 0 };

/** No token, so that no call can be made. */
export const NO_TOKEN: ExchangeOf<'connection'> = { kind: 'connection', cause: 'token_timeout', notBeforeMs: null };

/** The service does not answer. This counts towards an outage. */
export const TIMED_OUT: Exchange = { kind: 'unanswered', cause: 'timeout' };

/** The service answers that it fails. This counts towards an outage. */
export const FAILING: ExchangeOf<'refused'> = refusedWith(503);

export const FORBIDDEN: ExchangeOf<'refused'> = refusedWith(403, 'Access denied');

/** A page answers in place of the service. */
export const PAGE: Exchange = { kind: 'not_the_service', httpStatus: 200, cause: 'not_json' };

/** A JSON answer other than 2xx. */
export function refusedWith(
  httpStatus: number,
  message: string | null = null,
  notBeforeMs: number | null = null,
): ExchangeOf<'refused'> {
  return { kind: 'refused', httpStatus, message, isJson: true, notBeforeMs };
}
