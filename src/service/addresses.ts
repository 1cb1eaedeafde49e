import { OPERATIONS, type OperationName } from '../contracts/service/operations';
import { OPERATION_NAMES, type ServicePaths, type AccessDigests } from '../domain/vocabulary';
import { createHash, scryptSync } from 'node:crypto';
import type { ServiceAccess } from '../platform/config/config';

/** Where the calls of one operation go. */
export interface CallAddress {
  readonly secure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  /** Sent exactly as configured; a query is appended to it. */
  readonly path: string;
  /** All of it as text, for people. It has no credentials and no query. */
  readonly url: string;
}

/**
 * Returns the address of an operation: its documented path appended to the base address, or what `paths` has for it, a
 * path or a whole address. Throws an Error for an address that cannot be used; its text does not repeat it, because
 * people paste credentials into addresses.
 */
export function callAddresses(baseUrl: string, paths: ServicePaths): (name: OperationName) => CallAddress {
  const base = parseAddress(baseUrl.trim().replace(/\/$/, ''), 'the base address of the service');
  const below = (path: string): CallAddress => ({ ...base, path: base.path + path, url: base.url + path });
  const configured = new Map<OperationName, CallAddress>();
  for (const name of OPERATION_NAMES) {
    const path = paths[name];
    if (path === undefined) continue;
    const address = path.startsWith('/') ? below(path) : parseAddress(path, `the address of ${name}`);
    configured.set(name, { ...address, path: address.path || '/' });
  }
  return (name) => configured.get(name) ?? below(OPERATIONS[name].path);
}

/**
 * Splits an address. The path is taken as text: resolving it as a URL would fold dots, drop double slashes and re-encode
 * characters that the service may mean (docs/service-api.md#versioning).
 */
function parseAddress(text: string, what: string): CallAddress {
  const match = /^(https?):\/\/([^/?#@\\]+)(\/[\x21-\x7e]*)?$/i.exec(text);
  const path = match?.[3] ?? '';
  if (!match || /[?#]/.test(path)) {
    throw new Error(`${what} must be http(s)://host[:port][/path], without credentials, query or fragment`);
  }
  const secure = match[1]?.toLowerCase() === 'https';
  const origin = `${secure ? 'https' : 'http'}://${match[2]}`;
  if (!URL.canParse(origin)) throw new Error(`${what} names no valid host and port`);
  const { hostname, port } = new URL(origin);
  return {
    secure,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    path,
    url: origin + path,
  };
}

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
