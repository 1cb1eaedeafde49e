import type { Server } from 'node:http';
import { isIP, isIPv6, type Socket } from 'node:net';

/** Longer than a load balancer's idle timeout, so that it never sends into a connection that is being closed. */
const KEEP_ALIVE_MS = 65_000;
/** The same while a listener is nearly full. */
const KEEP_ALIVE_WHEN_FULL_MS = 5000;
const NEARLY_FULL = 3 / 4;

/** A connection that was closed for another one: one without a request (idle), or the new one itself (dropped). */
export interface ClosedConnection {
  readonly reason: 'idle' | 'dropped';
  readonly source: string;
}

export interface ConnectionLimits {
  /** Of all sources. */
  readonly connections: number;
  /** Of one source that is no trusted proxy. */
  readonly connectionsPerSource: number;
}

interface ConnectionSource {
  readonly name: string;
  readonly isTrusted: boolean;
  /** The one whose last request, or opening, is longest ago comes first. */
  readonly open: Set<Socket>;
}

/**
 * Limits the connections of a server and of each source. One above a limit replaces the one that has been idle for
 * longest: of its source, or of the source with the most, trusted proxies last. Where none is idle, the new one is
 * dropped. Returns what must be called with the connection of each request.
 */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
  tools: { readonly isTrusted: (address: string) => boolean; readonly closed: (closed: ClosedConnection) => void },
): (connection: Socket) => void {
  const sources = new Map<string, ConnectionSource>();
  const sourceBy = new WeakMap<Socket, ConnectionSource>();
  let count = 0;

  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const counted = (change: 1 | -1) => {
    count += change;
    server.keepAliveTimeout = count > limits.connections * NEARLY_FULL ? KEEP_ALIVE_WHEN_FULL_MS : KEEP_ALIVE_MS;
  };
  const remove = (socket: Socket, source: ConnectionSource) => {
    if (!source.open.delete(socket)) return;
    counted(-1);
    if (source.open.size === 0) sources.delete(source.name);
  };
  const replace = (newest: Socket, own: ConnectionSource, crowding: ConnectionSource) => {
    const idle = idleIn(crowding, newest);
    const [socket, source] = idle === null ? [newest, own] : [idle, crowding];
    remove(socket, source);
    socket.destroy();
    tools.closed({ reason: idle === null ? 'dropped' : 'idle', source: source.name });
  };
  server.on('connection', (socket) => {
    const name = sourceOf(socket.remoteAddress);
    const source = sources.get(name) ?? {
      name,
      isTrusted: tools.isTrusted(socket.remoteAddress ?? ''),
      open: new Set<Socket>(),
    };
    sources.set(name, source);
    sourceBy.set(socket, source);
    source.open.add(socket);
    counted(1);
    socket.once('close', () => remove(socket, source));
    if (!source.isTrusted && source.open.size > limits.connectionsPerSource) replace(socket, source, source);
    else if (count > limits.connections) replace(socket, source, mostCrowding(sources.values(), socket) ?? source);
  });
  return (socket) => {
    const source = sourceBy.get(socket);
    // To the end.
    if (source?.open.delete(socket)) source.open.add(socket);
  };
}

/** The source with the most connections, of those of which one is idle; a trusted proxy only if there is no other. */
function mostCrowding(sources: Iterable<ConnectionSource>, newest: Socket): ConnectionSource | null {
  let found: ConnectionSource | null = null;
  for (const source of sources) {
    const isMore =
      found === null || (source.isTrusted === found.isTrusted ? source.open.size > found.open.size : found.isTrusted);
    if (isMore && idleIn(source, newest) !== null) found = source;
  }
  return found;
}

function idleIn({ open }: ConnectionSource, newest: Socket): Socket | null {
  for (const socket of open) if (socket !== newest && !isAnswering(socket)) return socket;
  return null;
}

/** True while the application has a request of this connection. */
export function isAnswering(socket: Socket): boolean {
  return Boolean(Reflect.get(socket, '_httpMessage'));
}

/** An IPv6 client usually has a /64 network to itself. */
const IPV6_NETWORK_BITS = 64;

/** Some proxies write the port of the client into `X-Forwarded-For`: `192.0.2.1:50000`, `[2001:db8::1]:50000`. */
const WITH_PORT = /^(?:\[(?<ipv6>[^\]]+)\](?::\d+)?|(?<ipv4>[\d.]+):\d+)$/;

/** The source that a rate limit counts: an IPv4 address, the /64 network of an IPv6 address, else `unknown`. */
export function sourceOf(given: string | undefined): string {
  const { ipv4, ipv6 } = WITH_PORT.exec(given ?? '')?.groups ?? {};
  const address = ipv4 ?? ipv6 ?? given;
  return address === undefined || isIP(address) === 0 ? 'unknown' : networkOf(address);
}

/** The /64 network of an IPv6 address; the IPv4 address of one that contains it. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [before = [], after] = groupsOf(address);
  const left = 8 - before.length - (after?.length ?? 0);
  const groups = after ? [...before, ...Array<string>(left).fill('0'), ...after] : before;
  if (/^(?:0:){5}ffff:/.test(groups.join(':'))) {
    const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  return `${normalized(`${groups.slice(0, IPV6_NETWORK_BITS / 16).join(':')}::`)}/${IPV6_NETWORK_BITS}`;
}

/** The groups before `::` and after it, in hexadecimal. */
function groupsOf(address: string): string[][] {
  const [withoutZone = ''] = address.split('%');
  return normalized(withoutZone)
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':')));
}

/** Lower-case hexadecimal without leading zeros, with the longest run of zeros as `::`. */
function normalized(ipv6: string): string {
  return new URL(`http://[${ipv6}]`).hostname.slice(1, -1);
}
