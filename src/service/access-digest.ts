import { createHash, scryptSync } from 'node:crypto';
import { OPERATION_NAMES, type AccessDigests } from '../domain/vocabulary';
import type { ServiceAccess } from '../platform/config/config';
import { callAddresses } from './addresses';

/**
 * Identifies the addresses, the client and the secret that an access token belongs to. Of the secret there are 16 bits of
 * a slow digest: enough to notice another secret, and too few to confirm a guess for those who read Redis or a backup.
 * Throws an Error for an address that cannot be used; its text does not repeat it.
 */
export function accessDigest({ baseUrl, paths, clientId, clientSecret }: Omit<ServiceAccess, 'outbound'>): string {
  const [requested, used] = [callAddresses(baseUrl, paths)('token'), callAddresses(baseUrl, {})('started')];
  const access = createHash('sha256')
    .update(JSON.stringify([requested.url, used.url, clientId]))
    .digest('hex');
  return access + scryptSync(clientSecret, access, SECRET_BYTES).toString('hex');
}

const SECRET_BYTES = 2;

/** The host of the digest of `SERVICE_PATHS`, which does not depend on the base address. */
const ANY_BASE = 'http://any';

/** Identifies by variable the service that a process calls, however its address is spelled. Errors: see `accessDigest`. */
export function accessDigests({ baseUrl, paths, clientId }: Omit<ServiceAccess, 'outbound'>): AccessDigests {
  const digest = (...parts: string[]) => createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const addressOf = callAddresses(ANY_BASE, paths);
  return {
    SERVICE_BASE_URL: digest(callAddresses(baseUrl, {})('started').url),
    SERVICE_PATHS: digest(...OPERATION_NAMES.map((name) => addressOf(name).url)),
    SERVICE_CLIENT_ID: digest(clientId),
  };
}
