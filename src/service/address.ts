/** Where the service is, split once so that no call has to. */
export interface ServiceAddress {
  readonly secure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  /** Put before every path exactly as configured; no trailing slash. */
  readonly prefix: string;
}

/**
 * Splits the base address of the service. Paths are appended to it, so its prefix is taken as text: resolving it as a
 * URL would fold dots, drop double slashes and re-encode what the service may well mean (service-api 9).
 * Throws an Error that never repeats the address, because people paste credentials into addresses.
 */
export function parseServiceAddress(baseUrl: string): ServiceAddress {
  const match = /^(https?):\/\/([^/?#@\\]+)(\/[\x21-\x7e]*)?$/i.exec(baseUrl.trim());
  const prefix = match?.[3] ?? '';
  if (!match || /[?#]/.test(prefix)) {
    throw new Error(
      'the base address of the service must be http(s)://host[:port][/prefix], without credentials, query or fragment',
    );
  }
  const secure = match[1]?.toLowerCase() === 'https';
  const authority = parseAuthority(`${secure ? 'https' : 'http'}://${match[2]}`);
  return {
    secure,
    host: authority.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: authority.port === '' ? (secure ? 443 : 80) : Number(authority.port),
    prefix: prefix.endsWith('/') ? prefix.slice(0, -1) : prefix,
  };
}

function parseAuthority(origin: string): URL {
  try {
    return new URL(origin);
  } catch {
    throw new Error('the base address of the service names no valid host and port');
  }
}
