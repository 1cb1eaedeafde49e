import type { Agent as PlainAgent } from 'node:http';
import type { Agent as SecureAgent } from 'node:https';
import { custom, errors, Issuer } from 'openid-client';
import { discoveryDocument } from '../contracts/identity';
import { errorCode } from '../platform/errors';
import type { OidcSettings } from '../platform/config/sign-in-variables';
import { within } from '../platform/timers';

/** The agents that calls to the provider use. They know proxy and authorities. */
export interface ProviderAgents {
  readonly plain: PlainAgent;
  readonly secure: SecureAgent | PlainAgent;
}

/**
 * The longest silence before the headers of an answer, and the limit of discovery as a whole. The library has no limit
 * after the headers.
 */
const TIMEOUT_MS = 5000;
/** The limit of the return from the provider: its tokens, and its keys. */
export const FINISH_LIMIT_MS = 10_000;
/** The clocks of provider and console may differ by this much. */
const CLOCK_TOLERANCE_S = 30;

export type ProviderClient = InstanceType<Issuer['Client']>;

/** The provider cannot be used. `reason` is one word; no text of the provider travels with it. */
export class ProviderUnusable extends Error {
  constructor(readonly reason: string) {
    super(`the identity provider cannot be used: ${reason}`);
    this.name = 'ProviderUnusable';
  }
}

/**
 * Reads the discovery document of the provider and makes a client of it. Keys are read when they are needed.
 * `finishLimitMs`: the longest that anything waits for a call with these agents.
 * @throws ProviderUnusable
 */
export async function discoverProvider(
  { issuer, clientId, clientSecret, redirectUrl }: OidcSettings,
  agents: ProviderAgents,
  finishLimitMs = FINISH_LIMIT_MS,
): Promise<ProviderClient> {
  const httpOptions = ({ protocol }: URL) => ({
    agent: protocol === 'https:' ? agents.secure : agents.plain,
    timeout: TIMEOUT_MS,
  });
  /** The library keeps the options of the first call at the class. */
  class Discovered extends Issuer {
    static override [custom.http_options] = httpOptions;
  }
  let reason = 'timeout';
  const discovering = Discovered.discover(issuer).catch((error: unknown) => {
    reason = providerFailureReason(error);
    throw error;
  });
  // The library has no limit for the rest of an answer, and people would wait for it at every sign-in.
  const discovered = await within(TIMEOUT_MS, discovering);
  if (discovered === null) {
    endAbandoned(agents, finishLimitMs);
    throw new ProviderUnusable(reason);
  }
  const found = discovered.value;
  const document = discoveryDocument.safeParse(found.metadata);
  if (!document.success) throw new ProviderUnusable('discovery_invalid');
  // An ID token is judged by the issuer of the document, so that must be the configured one.
  if (document.data.issuer !== issuer) throw new ProviderUnusable('issuer_differs');
  found[custom.http_options] = httpOptions;
  const client = new found.Client({
    client_id: clientId,
    client_secret: clientSecret,
    redirect_uris: [redirectUrl],
    response_types: ['code'],
    id_token_signed_response_alg: algorithmOf(document.data.id_token_signing_alg_values_supported),
  });
  client[custom.http_options] = httpOptions;
  client[custom.clock_tolerance] = CLOCK_TOLERANCE_S;
  return client;
}

/**
 * Ends the connections that are open now and still open after `limitMs`, the longest that anything waits for a call. So
 * it ends no call that a sign-in still waits for.
 */
export function endAbandoned({ plain, secure }: ProviderAgents, limitMs: number): void {
  const open = [plain, secure].flatMap(({ sockets }) => Object.values(sockets).flatMap((some = []) => some));
  const end = () => {
    for (const socket of open) socket.destroy();
  };
  setTimeout(end, limitMs).unref();
}

/**
 * Where a browser ends its session at the provider and comes back from; null if the provider has no such address. The
 * client id names the console. Its ID token would do so too, but would have to be stored, with the claims of the person.
 */
export function signOutAddressOf({ issuer }: ProviderClient, { clientId, signedOutUrl }: OidcSettings): string | null {
  const { end_session_endpoint: endpoint } = discoveryDocument.parse(issuer.metadata);
  if (endpoint === undefined) return null;
  const address = new URL(endpoint);
  address.searchParams.set('client_id', clientId);
  address.searchParams.set('post_logout_redirect_uri', signedOutUrl);
  return address.href;
}

/** How ID tokens are signed: RS256, which every provider should have, else its first way with a public key. */
function algorithmOf(supported: readonly string[] = []): string {
  return ['RS256', ...supported].find((name) => supported.includes(name) && /^(RS|PS|ES|EdDSA)/.test(name)) ?? 'RS256';
}

/**
 * Why a call to the provider failed, as one word: the code of the provider or of the system, `clock_skew`,
 * `token_invalid`, `timeout`, else `answer_invalid`.
 */
export function providerFailureReason(error: unknown): string {
  if (error instanceof ProviderUnusable) return error.reason;
  if (error instanceof errors.OPError) {
    const { error: code = '', response } = error;
    return /^\w{1,40}$/.test(code) ? code : `http_${response?.statusCode ?? 'failed'}`;
  }
  if (error instanceof errors.RPError) {
    if (error.message.includes('timed out')) return 'timeout';
    return 'tolerance' in error ? 'clock_skew' : 'token_invalid';
  }
  return errorCode(error)?.toLowerCase() ?? 'answer_invalid';
}
