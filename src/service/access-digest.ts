import { createHash } from 'node:crypto';
import { OPERATION_NAMES, type AccessDigests } from '../domain/vocabulary';
import type { ServiceAccess } from '../platform/config';
import { callAddresses } from './addresses';

/**
 * Identifies the addresses and the client that an access token belongs to. The secret is left out: who reads Redis or a
 * backup could try guesses on its digest. Throws an Error for an address that cannot be used; its text does not repeat
 * it.
 */
export function accessDigest({ baseUrl, paths, clientId }: Omit<ServiceAccess, 'wayOut'>): string {
  const [requested, used] = [callAddresses(baseUrl, paths)('token'), callAddresses(baseUrl, {})('started')];
  return createHash('sha256')
    .update(JSON.stringify([requested.url, used.url, clientId]))
    .digest('hex');
}

/** The host of the digest of `SERVICE_PATHS`, which does not depend on the base address. */
const ANY_BASE = 'http://any';

/** Identifies by variable the service that a process calls, however its address is spelled. Errors: see `accessDigest`. */
export function accessDigests({ baseUrl, paths, clientId }: Omit<ServiceAccess, 'wayOut'>): AccessDigests {
  const digest = (...parts: string[]) => createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const addressOf = callAddresses(ANY_BASE, paths);
  return {
    SERVICE_BASE_URL: digest(callAddresses(baseUrl, {})('started').url),
    SERVICE_PATHS: digest(...OPERATION_NAMES.map((name) => addressOf(name).url)),
    SERVICE_CLIENT_ID: digest(clientId),
  };
}
