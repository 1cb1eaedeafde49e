import { isIP } from 'node:net';
import { ipKeyGenerator } from 'express-rate-limit';

/** An IPv6 client has at least such a network to itself. */
const IPV6_NETWORK_BITS = 64;

/** What counts as one source under a limit: an IPv4 address, the /64 network of an IPv6 address, else `unknown`. */
export function sourceOf(address: string | undefined): string {
  return address === undefined || isIP(address) === 0 ? 'unknown' : ipKeyGenerator(address, IPV6_NETWORK_BITS);
}
