import type { OperationName } from '../contracts/service/operations';
import type { Exchange } from '../domain/service/policy';
import type { EncodedRequest } from './encode';

/**
 * What calling an operation without effect shows.
 *
 * - call: the operation itself was called, with a question about nothing, or with a report that names no tow.
 * - options: a call could create something, so only OPTIONS was sent, which HTTP defines as safe: to the address, and to
 *   one below it that does not exist.
 */
export type Probe =
  | { readonly kind: 'call'; readonly exchange: Exchange }
  | { readonly kind: 'options'; readonly exchange: Exchange; readonly elsewhere: Exchange };

const NOWHERE = '00000000-0000-0000-0000-000000000000';
const NO_TOW = {};

/**
 * Requests that change nothing: look-ups in a zone that does not exist, and status updates without any field, which name
 * no tow. Null for what creates something: an empty invoice request or violation might create an empty one.
 */
const HARMLESS: Readonly<Record<OperationName, object | null>> = {
  token: NO_TOW,
  started: NO_TOW,
  detained: NO_TOW,
  canceled: NO_TOW,
  released: NO_TOW,
  payment: NO_TOW,
  invoice: null,
  violation: null,
  violation_guide: null,
  capacity: { zoneId: NOWHERE },
  ticket: { zoneId: NOWHERE, plateNumber: '0000', plateType: 'PRIVATE' },
};

/** The request with which an operation can be called without effect; null when there is none. */
export function harmlessRequest(name: OperationName): object | null {
  return HARMLESS[name];
}

/** A path below that of an operation, which no service has. */
const BELOW = '/towhook-probe-of-an-address-that-does-not-exist';

/** OPTIONS to an operation, or to an address below it that does not exist. */
export function optionsRequest(at: 'here' | 'elsewhere'): EncodedRequest {
  return {
    method: 'OPTIONS',
    query: at === 'here' ? '' : BELOW,
    isUpload: false,
    open: () => ({ headers: {}, data: undefined }),
  };
}
