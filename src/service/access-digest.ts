import { createHash } from 'node:crypto';
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
