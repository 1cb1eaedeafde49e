import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { OperationName } from '../contracts/service/operations';
import type { Clock } from '../platform/clock';
import { BoundedMap } from './bounded';
import { parseJson } from './fields';
import type { ActiveProfile } from './profile';
import { REFUSALS, type RefusedCall } from './answer/refusals';

const claims = z.object({ jti: z.string(), expires_at_ms: z.number() });
type Claims = z.infer<typeof claims>;

/** Opaque tokens beyond this number are dropped, oldest first. */
const OPAQUE_TOKENS_MAX = 10_000;

export interface AccessSettings {
  readonly clock: Clock;
  readonly profile: ActiveProfile;
  readonly credentials: { readonly clientId: string; readonly clientSecret: string } | null;
}

/** A new token and the time after which it gets 401. */
export interface IssuedToken {
  readonly token: string;
  readonly lifetimeMs: number;
}

/**
 * Who may call (docs/service-api.md#authentication). Tokens are readable JWTs signed with a key of this run, or random
 * text that this run has kept, so a token of another run is as unknown as an invented one.
 */
export class Access {
  readonly #settings: AccessSettings;
  readonly #key: string;
  readonly #opaque = new BoundedMap<Claims>(OPAQUE_TOKENS_MAX);
  /** Tokens that were ended early, with their regular end. */
  readonly #revoked = new Map<string, number>();

  constructor(settings: AccessSettings) {
    this.#settings = settings;
    this.#key = `${settings.clock.id()}${settings.clock.id()}`;
  }

  /** Issues a token for a client; null when the service does not know the client. */
  issue(clientId: string | undefined, clientSecret: string | undefined): IssuedToken | null {
    if (!clientId || !clientSecret) return null;
    const { credentials, clock, profile } = this.#settings;
    const isKnown = !credentials || (credentials.clientId === clientId && credentials.clientSecret === clientSecret);
    if (!isKnown) return null;
    const { token_format, token_lifetime_ms: lifetimeMs } = profile.current;
    const nowMs = clock.nowMs();
    const issued = { jti: clock.id(), expires_at_ms: nowMs + lifetimeMs };
    if (token_format === 'jwt') return { token: this.#signed(clientId, nowMs, issued), lifetimeMs };
    const token = `op_${clock.id()}`.replaceAll('-', '');
    this.#opaque.set(token, issued);
    return { token, lifetimeMs };
  }

  #signed(clientId: string, issuedAtMs: number, { jti, expires_at_ms }: Claims): string {
    const header = encode({ alg: 'HS256', typ: 'JWT' });
    const payload = encode({
      operator: clientId,
      iat: Math.floor(issuedAtMs / 1000),
      exp: Math.floor(expires_at_ms / 1000),
      // `exp` has whole seconds; the simulator is exact, so that tests can use short lifetimes.
      expires_at_ms,
      jti,
    });
    return `${header}.${payload}.${this.#sign(`${header}.${payload}`)}`;
  }

  /** Checks the bearer header of a call: 401 without a valid token. */
  check(operation: OperationName, authorization: string | undefined): RefusedCall | null {
    return operation === 'token' || this.#claimsOf(authorization) ? null : { refusal: REFUSALS.unauthorized };
  }

  /** Ends the token of a bearer header, if it is valid. */
  revoke(authorization: string | undefined): void {
    const token = this.#claimsOf(authorization);
    if (!token) return;
    const nowMs = this.#settings.clock.nowMs();
    for (const [id, expiresAtMs] of this.#revoked) if (expiresAtMs <= nowMs) this.#revoked.delete(id);
    this.#revoked.set(token.jti, token.expires_at_ms);
  }

  #claimsOf(authorization: string | undefined): Claims | null {
    const [, text = ''] = /^bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    const token = this.#opaque.get(text) ?? this.#verified(text);
    if (!token || this.#revoked.has(token.jti)) return null;
    return token.expires_at_ms > this.#settings.clock.nowMs() ? token : null;
  }

  #verified(token: string): Claims | null {
    const [, header, payload, signature] = /^([^.]+)\.([^.]+)\.([^.]+)$/.exec(token) ?? [];
    if (!header || !payload || !signature) return null;
    if (!isSame(signature, this.#sign(`${header}.${payload}`))) return null;
    const read = claims.safeParse(parseJson(Buffer.from(payload, 'base64url').toString()));
    return read.success ? read.data : null;
  }

  #sign(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url');
  }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function isSame(left: string, right: string): boolean {
  const a = Buffer.from(left);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}
