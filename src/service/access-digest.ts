import { createHash } from 'node:crypto';
import type { ServiceAccess } from '../platform/config';
import { callAddresses } from './addresses';

/**
 * Identifies the addresses and credentials that an access token belongs to, without showing them. Throws an Error for an
 * address that cannot be used; its text does not repeat it.
 */
export function accessDigest({ baseUrl, paths, clientId, clientSecret }: Omit<ServiceAccess, 'wayOut'>): string {
  const { url } = callAddresses(baseUrl, paths)('token');
  return createHash('sha256')
    .update(JSON.stringify([url, baseUrl, clientId, clientSecret]))
    .digest('hex');
}
