import { Agent as PlainAgent, type AgentOptions } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import type { OutboundSettings } from '../platform/config/config';
import { openSecureContext, type TlsPrefix } from '../platform/tls-files';
import { TunnelAgent } from './tunnel';

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
