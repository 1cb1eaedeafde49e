import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { errors, generators } from 'openid-client';
import { type SignInTicket, signInTicket, idTokenClaims, type IdTokenClaims } from '../contracts/identity';
import type { Clock } from '../platform/clock';
import { sourceOf } from '../platform/connections';
import type { Log } from '../platform/log/log';
import type { OidcSettings } from '../platform/config/sign-in-variables';
import { isSettledWithin } from '../platform/timers';
import {
  SIGN_IN_LIMIT_MS,
  type FinishedSignIn,
  type IdentityProvider,
  type SignInLimit,
} from '../workflow/identity-port';
import {
  discoverProvider,
  endAbandoned,
  FINISH_LIMIT_MS,
  ProviderUnusable,
  providerFailureReason,
  signOutAddressOf,
  type ProviderAgents,
  type ProviderClient,
} from './discovery';
import { personActor, type Actor } from '../domain/ops/audit';
import { roleAllows, type Role } from '../domain/vocabulary';

export { discoverProvider, providerFailureReason, signOutAddressOf } from './discovery';

/** A discovery document is read again after this time. */
const DISCOVERY_KEPT_MS = 3_600_000;
/** What the provider sends back in the address. */
const ANSWER = ['code', 'state', 'iss', 'error'];
/** A cookie has 4,096 characters; a longer path leads to the board. */
const NEXT_MAX = 1500;

interface IdentityTools {
  readonly agents: ProviderAgents;
  readonly clock: Clock;
  readonly limit: SignInLimit;
  readonly log: Log;
  /** The limit of the calls that finish a sign-in; 10 s by default. */
  readonly finishLimitMs?: number;
}

/**
 * The sign-in of people with OpenID Connect: the authorization code flow with PKCE, state and nonce. The provider is
 * first called when a person signs in, so one that is down stops no start.
 */
export function createIdentityProvider(
  settings: OidcSettings,
  { agents, clock, limit, log, finishLimitMs = FINISH_LIMIT_MS }: IdentityTools,
): IdentityProvider {
  const key = ticketKey(settings.clientSecret);
  const client = cached(() => discoverProvider(settings, agents, finishLimitMs), clock);

  const exchange = async (query: URLSearchParams, { state, nonce, verifier }: SignInTicket) => {
    const checks = { state, nonce, code_verifier: verifier, response_type: 'code' };
    // Other ways to answer, such as an ID token in the address, are not taken.
    const answer = Object.fromEntries([...query].filter(([name]) => ANSWER.includes(name)));
    return (await client.read()).callback(settings.redirectUrl, answer, checks);
  };
  const finish = async (query: URLSearchParams, ticket: SignInTicket) => {
    const { next } = ticket;
    const exchanging = exchange(query, ticket);
    if (!(await isSettledWithin(finishLimitMs, exchanging))) {
      // All sign-ins of a client share one read of the keys, so one that hangs would block them.
      client.drop();
      endAbandoned(agents, finishLimitMs);
      throw new ProviderUnusable('timeout');
    }
    const tokens = await exchanging;
    const actor = personOf(tokens.claims(), settings);
    if (actor !== null) return { kind: 'signed_in', actor, next } as const;
    log.warn('sign_in.failed', { problem: 'no_role' });
    return { kind: 'no_role', next } as const;
  };
  const limited = (retryAfterMs: number, source: string) => {
    log.warn('sign_in.failed', { problem: 'rate_limited', address: source });
    return { kind: 'rate_limited', retryAfterMs } as const;
  };
  return {
    async begin(next, { address: from }) {
      const source = sourceOf(from);
      const retryAfterMs = await limit.countStart(source);
      if (retryAfterMs !== null) return limited(retryAfterMs, source);
      const [state, nonce, verifier] = [generators.state(), generators.nonce(), generators.codeVerifier()];
      try {
        const address = (await client.read()).authorizationUrl({
          scope: settings.scopes,
          redirect_uri: settings.redirectUrl,
          state,
          nonce,
          code_challenge: generators.codeChallenge(verifier),
          code_challenge_method: 'S256',
        });
        const path = next.length > NEXT_MAX ? '/board' : next;
        const ticket = encryptTicket({ state, nonce, verifier, next: path, begunAtMs: clock.nowMs() }, key);
        return { kind: 'begun', address, ticket };
      } catch (error) {
        log.warn('sign_in.failed', { problem: 'unavailable', reason: providerFailureReason(error) });
        return { kind: 'unavailable' };
      }
    },
    async finish(query, { ticket: text, address }): Promise<FinishedSignIn> {
      const source = sourceOf(address);
      const ticket = text === null ? null : openTicket(text, key);
      const isBegun =
        ticket !== null && query.get('state') === ticket.state && clock.nowMs() - ticket.begunAtMs < SIGN_IN_LIMIT_MS;
      // A sign-in that was begun is counted by itself, so that no other visitor can keep it from its end.
      const retryAfterMs = await (isBegun ? limit.countReturn(ticket.state) : limit.countStart(source));
      if (retryAfterMs !== null) return limited(retryAfterMs, source);
      if (!isBegun) return { kind: 'not_begun', next: ticket?.next ?? '/board' };
      const { next } = ticket;
      try {
        const finished = await finish(query, ticket);
        if (finished.kind === 'signed_in') await limit.forgiveStart(source);
        return finished;
      } catch (error) {
        const problem = isUnavailable(error) ? 'unavailable' : 'refused';
        log.warn('sign_in.failed', { problem, reason: providerFailureReason(error) });
        return { kind: problem, next };
      }
    },
    async signOutAddress() {
      try {
        return signOutAddressOf(await client.read(), settings);
      } catch (error) {
        log.warn('sign_out.failed', { problem: 'unavailable', reason: providerFailureReason(error) });
        return null;
      }
    },
  };
}

interface CachedClient {
  read(): Promise<ProviderClient>;
  /** The next read discovers the provider again. */
  drop(): void;
}

/** Keeps what `discover` has resolved with for an hour, and nothing that failed. Calls at one time share one read. */
function cached(discover: () => Promise<ProviderClient>, clock: Clock): CachedClient {
  let kept: { readonly value: Promise<ProviderClient>; readonly untilMs: number } | null = null;
  return {
    async read() {
      if (kept === null || clock.monotonicMs() > kept.untilMs) {
        kept = { value: discover(), untilMs: clock.monotonicMs() + DISCOVERY_KEPT_MS };
      }
      const { value } = kept;
      return value.catch((error: unknown) => {
        if (kept?.value === value) kept = null;
        throw error;
      });
    },
    drop() {
      kept = null;
    },
  };
}

/** True if the provider was not reached, or failed on its side. Trying again may help. */
function isUnavailable(error: unknown): boolean {
  if (error instanceof ProviderUnusable) return true;
  if (error instanceof errors.OPError) {
    const { error: code = '', response } = error;
    const httpStatus = response?.statusCode ?? 0;
    return httpStatus >= 500 || httpStatus === 429 || /^(server_error|temporarily_unavailable)$/.test(code);
  }
  if (error instanceof errors.RPError) return providerFailureReason(error) === 'timeout';
  // An answer that is not JSON, such as the maintenance page of a proxy.
  if (error instanceof Error && error.name === 'SyntaxError') return true;
  return providerFailureReason(error) !== 'answer_invalid';
}

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The key of all tickets, made of a secret that every console process has. */
type TicketKey = Buffer;

function ticketKey(clientSecret: string): TicketKey {
  return Buffer.from(hkdfSync('sha256', clientSecret, '', 'towhook sign-in ticket', 32));
}

/** The ticket as text for a cookie, which only a holder of the key can read or make. */
function encryptTicket(ticket: SignInTicket, key: TicketKey): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv);
  const encrypted = [cipher.update(JSON.stringify(ticket), 'utf8'), cipher.final()];
  return Buffer.concat([iv, cipher.getAuthTag(), ...encrypted]).toString('base64url');
}

/** Null for a text that was not encrypted with this key. */
function openTicket(text: string, key: TicketKey): SignInTicket | null {
  const bytes = Buffer.from(text, 'base64url');
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const json = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
    return signInTicket.parse(JSON.parse(json.toString('utf8')));
  } catch {
    return null;
  }
}

/** Longest name that is shown. As long as the name of an API key. */
const NAME_MAX = 100;

/** The person that the claims of a valid ID token name; null without a role. Throws for claims without a subject. */
function personOf(
  given: object,
  { roleClaim, roles }: { readonly roleClaim: string; readonly roles: ReadonlyMap<string, Role> },
): Actor | null {
  const claims = idTokenClaims.parse(given);
  const role = highestRole(claimAt(claims, roleClaim), roles);
  return role && personActor({ subject: claims.sub, name: nameOf(claims), role });
}

/** The value of a claim of this name, else of the path that its dots describe; undefined without one. */
function claimAt(claims: unknown, path: string): unknown {
  if (typeof claims !== 'object' || claims === null) return undefined;
  const own = new Map<string, unknown>(Object.entries(claims));
  if (own.has(path)) return own.get(path);
  const dot = path.indexOf('.');
  return dot === -1 ? undefined : claimAt(own.get(path.slice(0, dot)), path.slice(dot + 1));
}

/** Of a value, or of a list of them. */
function highestRole(claim: unknown, roles: ReadonlyMap<string, Role>): Role | null {
  let highest: Role | null = null;
  for (const value of [claim].flat()) {
    const role = typeof value === 'string' ? roles.get(value) : undefined;
    if (role !== undefined && (highest === null || roleAllows(role, highest))) highest = role;
  }
  return highest;
}

/** The name as it is shown and audited. People choose it, so it has one line and a bound. */
function nameOf({ name, preferred_username: username, email, sub }: IdTokenClaims): string {
  const names = [name, username, email, sub].map((text = '') => text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim());
  const shown = names.find((text) => text !== '') ?? sub;
  return shown.slice(0, NAME_MAX).toWellFormed();
}
