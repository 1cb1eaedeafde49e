import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { OperationName } from '../contracts/operations';
import type { Clock } from '../platform/clock';
import { parseJson } from './fields';
import { REFUSALS, type Refused } from './refusals';

const claims = z.object({ jti: z.string(), expires_at_ms: z.number() });

export interface AccessSettings {
  readonly clock: Clock;
  readonly tokenLifetimeMs: number;
  readonly credentials: { readonly clientId: string; readonly clientSecret: string } | null;
}

/**
 * Who may call (service-api 5). Tokens are readable JWTs signed with a key of this run, so a token of another run is as
 * unknown as an invented one.
 */
export class Access {
  readonly #settings: AccessSettings;
  readonly #key: string;
  /** Tokens ended before their time, with the moment from which the time itself ends them. */
  readonly #revoked = new Map<string, number>();
  #denied: ReadonlySet<OperationName> = new Set();

  constructor(settings: AccessSettings) {
    this.#settings = settings;
    this.#key = `${settings.clock.id()}${settings.clock.id()}`;
  }

  /** A new token for a client; null when the service does not know the client. */
  issue(clientId: string | undefined, clientSecret: string | undefined): string | null {
    if (!clientId || !clientSecret) return null;
    const { credentials, clock, tokenLifetimeMs } = this.#settings;
    const isKnown = !credentials || (credentials.clientId === clientId && credentials.clientSecret === clientSecret);
    if (!isKnown) return null;
    const issuedAtMs = clock.nowMs();
    const expiresAtMs = issuedAtMs + tokenLifetimeMs;
    const header = encode({ alg: 'HS256', typ: 'JWT' });
    const payload = encode({
      operator: clientId,
      iat: Math.floor(issuedAtMs / 1000),
      exp: Math.floor(expiresAtMs / 1000),
      // `exp` has whole seconds only; the simulator itself is exact, so that tests can use short lives.
      expires_at_ms: expiresAtMs,
      jti: clock.id(),
    });
    return `${header}.${payload}.${this.#sign(`${header}.${payload}`)}`;
  }

  /** Checks the bearer header of a call: 401 without a valid token, 403 where the operator was denied. */
  check(operation: OperationName, authorization: string | undefined): Refused | null {
    if (operation !== 'token' && !this.#claimsOf(authorization)) return { refusal: REFUSALS.unauthorized };
    return this.#denied.has(operation) ? { refusal: REFUSALS.accessDenied } : null;
  }

  /** Ends the token of a bearer header; nothing happens when it is not valid anyway. */
  revoke(authorization: string | undefined): void {
    const token = this.#claimsOf(authorization);
    if (!token) return;
    const nowMs = this.#settings.clock.nowMs();
    for (const [id, expiresAtMs] of this.#revoked) if (expiresAtMs <= nowMs) this.#revoked.delete(id);
    this.#revoked.set(token.jti, token.expires_at_ms);
  }

  /** Replaces the list of operations the operator may not call. */
  deny(operations: readonly OperationName[]): void {
    this.#denied = new Set(operations);
  }

  denied(): OperationName[] {
    return [...this.#denied];
  }

  #claimsOf(authorization: string | undefined): z.infer<typeof claims> | null {
    const [, header, payload, signature] = /^bearer +([^.]+)\.([^.]+)\.([^.]+)$/i.exec(authorization ?? '') ?? [];
    if (!header || !payload || !signature) return null;
    if (!isSame(signature, this.#sign(`${header}.${payload}`))) return null;
    const read = claims.safeParse(parseJson(Buffer.from(payload, 'base64url').toString()));
    if (!read.success || this.#revoked.has(read.data.jti)) return null;
    return read.data.expires_at_ms > this.#settings.clock.nowMs() ? read.data : null;
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
