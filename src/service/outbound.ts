import { Agent as PlainAgent, type AgentOptions, type ClientRequest } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import type { OutboundSettings } from '../platform/config/config';
import { openSecureContext, type TlsPrefix } from '../platform/tls-files';
import type { Socket } from 'node:net';
import { checkServerIdentity, type SecureContext } from 'node:tls';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { transportFailureReason } from './transport-failure';

/** The agents of one way of using connections: for secure addresses, and for plain ones. */
export interface Agents {
  readonly secure: SecureAgent | TunnelAgent;
  readonly plain: PlainAgent | TunnelAgent;
}

/**
 * How calls leave this machine. Returns the agents of one way of using connections; through a proxy, where each call has a
 * connection of its own, always the same.
 */
export type Outbound = (options: AgentOptions) => Agents;

/** Without a proxy, further authorities or a certificate of ours. */
const DIRECT: OutboundSettings = { proxyUrl: null, caFile: null, clientCertFile: null, clientKeyFile: null };

/**
 * Opens what calls leave through. Reads the files once, at the start; their variables begin with `prefix`.
 * @throws ConfigurationError that names the variable of a file that cannot be used.
 */
export function openOutbound(
  settings: OutboundSettings = DIRECT,
  { connectTimeoutMs, prefix = 'SERVICE' }: { readonly connectTimeoutMs: number; readonly prefix?: TlsPrefix },
): Outbound {
  const secureContext = openSecureContext(settings, prefix);
  const trust = secureContext ? { secureContext } : {};
  if (settings.proxyUrl !== null) {
    const agent = new TunnelAgent(settings.proxyUrl, { connectTimeoutMs, secureContext });
    return () => ({ secure: agent, plain: agent });
  }
  // Up to four addresses of a name get their turn within the time for a connect.
  const patient = { autoSelectFamilyAttemptTimeout: Math.max(10, Math.ceil(connectTimeoutMs / 4)) };
  return (options) => ({
    secure: new SecureAgent({ ...options, ...patient, ...trust }),
    plain: new PlainAgent({ ...options, ...patient }),
  });
}

/** The agents for calls to the identity provider. @throws ConfigurationError like openOutbound */
export function openProviderAgents(settings: OutboundSettings): Agents {
  return openOutbound(settings, { connectTimeoutMs: 5000, prefix: 'OIDC' })({ keepAlive: false });
}

/** Options of a connection, as the agent gets them. */
type TunnelTarget = Parameters<HttpsProxyAgent<string>['connect']>[1];

/** The tunnel could not be opened, so nothing was sent to the service. `code` is the reason, `proxy_…`. */
class TunnelFailure extends Error {
  constructor(readonly code: string) {
    super('the proxy opened no tunnel');
    this.name = 'TunnelFailure';
  }
}

/**
 * Opens a tunnel through an HTTP proxy (CONNECT) for each connection. A tunnel that is refused, or not open after
 * `connectTimeoutMs`, is an error of the connection, and never an answer: the library alone would hand the answer of the
 * proxy to the request.
 */
class TunnelAgent extends HttpsProxyAgent<string> {
  readonly #connectTimeoutMs: number;
  readonly #secureContext: SecureContext | null;

  constructor(
    proxyUrl: string,
    settings: { readonly connectTimeoutMs: number; readonly secureContext: SecureContext | null },
  ) {
    super(proxyUrl, { keepAlive: false });
    this.#connectTimeoutMs = settings.connectTimeoutMs;
    this.#secureContext = settings.secureContext;
  }

  override async connect(request: ClientRequest, target: TunnelTarget): Promise<Socket> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.#connectTimeoutMs);
    let status = 0;
    const onAnswer = (answer: { readonly statusCode: number }) => void (status = answer.statusCode);
    request.once('proxyConnect', onAnswer);
    try {
      // Read at once, when the library opens the connection to the proxy.
      this.connectOpts = Object.assign({}, this.connectOpts, { signal: late.signal }, this.#trust());
      const socket = await super.connect(request, this.#checked(target));
      if (status === 200) return socket;
      socket.destroy();
    } catch (error) {
      throw new TunnelFailure(
        late.signal.aborted ? 'proxy_timeout' : `proxy_${transportFailureReason(error, 'connecting')}`,
      );
    } finally {
      clearTimeout(timer);
      request.off('proxyConnect', onAnswer);
    }
    throw new TunnelFailure(`proxy_http_${status}`);
  }

  #trust() {
    return this.#secureContext ? { secureContext: this.#secureContext } : {};
  }

  /** The library leaves out the host, and would compare the certificate of a service without a name with the proxy. */
  #checked(target: TunnelTarget): TunnelTarget {
    const { host } = target;
    if (!target.secureEndpoint || typeof host !== 'string') return target;
    return Object.assign({}, target, this.#trust(), {
      checkServerIdentity: (_name: string, certificate: Parameters<typeof checkServerIdentity>[1]) =>
        checkServerIdentity(host, certificate),
    });
  }
}
