import type { OperationName } from '../contracts/service/operations';
import type { Clock } from '../platform/clock';
import { BoundedMap } from './bounded';
import type { ActiveProfile } from './profile';
import { REFUSALS, type RefusedCall } from './answer/faults';

/** Tokens beyond this number are dropped, oldest first. */
const TOKENS_MAX = 10_000;

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
 * Who may call (docs/service-api.md#authentication). A token is a readable JWT or random text; valid are those that this
 * run has issued, so a token of another run is as unknown as an invented one.
 */
export class Access {
  readonly #settings: AccessSettings;
  /** When each token ends. */
  readonly #endsAtMs = new BoundedMap<number>(TOKENS_MAX);

  constructor(settings: AccessSettings) {
    this.#settings = settings;
  }

  /** Issues a token for a client; null when the service does not know the client. */
  issue(clientId: string | undefined, clientSecret: string | undefined): IssuedToken | null {
    if (!clientId || !clientSecret) return null;
    const { credentials, clock, profile } = this.#settings;
    const isKnown = !credentials || (credentials.clientId === clientId && credentials.clientSecret === clientSecret);
    if (!isKnown) return null;
    const { token_format: format, token_lifetime_ms: lifetimeMs } = profile.current;
    const nowMs = clock.nowMs();
    const id = clock.id();
    const claims = { operator: clientId, iat: seconds(nowMs), exp: seconds(nowMs + lifetimeMs), jti: id };
    const token =
      format === 'jwt'
        ? [{ alg: 'HS256', typ: 'JWT' }, claims, { signature: clock.id() }].map(encode).join('.')
        : `op_${id}`.replaceAll('-', '');
    this.#endsAtMs.set(token, nowMs + lifetimeMs);
    return { token, lifetimeMs };
  }

  /** Checks the bearer header of a call: 401 without a valid token. */
  check(operation: OperationName, authorization: string | undefined): RefusedCall | null {
    const endsAtMs = this.#endsAtMs.get(tokenIn(authorization)) ?? 0;
    const isValid = operation === 'token' || endsAtMs > this.#settings.clock.nowMs();
    return isValid ? null : { refusal: REFUSALS.unauthorized };
  }

  /** Ends the token of a bearer header, if it is known. */
  revoke(authorization: string | undefined): void {
    const token = tokenIn(authorization);
    if (this.#endsAtMs.has(token)) this.#endsAtMs.set(token, 0);
  }
}

function tokenIn(authorization = ''): string {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
