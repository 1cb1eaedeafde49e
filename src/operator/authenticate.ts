import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import type { SignIn } from '../workflow/operator-port';
import type { ApiKeyStore } from '../workflow/ports';
import type { Actor } from '../workflow/progress';
import type { Guessing } from './guessing';
import { problem, type Refused } from './said';

/** Who calls, by the key of the call. Keys are long random texts, so their plain hash is safe to store. */
export interface Authenticator extends SignIn {
  /**
   * Who is signed in on the console, of a request that only reads and names no key; null of every other request: another
   * site may have made it. Rejects while nobody can say.
   */
  signedIn(request: Request): Promise<Actor | null>;
}

/** Who makes a request; null when its cookie is that of no session. */
export type SessionActor = (request: Request) => Promise<Actor | null>;

export interface AuthenticatorOptions {
  readonly keys: Pick<ApiKeyStore, 'findByHash'>;
  /** Valid whatever becomes of the stored keys; null when none is configured. */
  readonly bootstrapApiKey: string | null;
  readonly guessing: Guessing;
}

/** The name and the id of whoever holds the configured key; no stored key may have them. */
export const BOOTSTRAP = 'bootstrap';

/** Lets in by keys alone. */
export function createAuthenticator({ keys, bootstrapApiKey, guessing }: AuthenticatorOptions): Authenticator {
  const bootstrapHash = bootstrapApiKey === null ? null : hashOf(bootstrapApiKey);
  const holderOf = async (hash: string): Promise<Actor | null> => {
    if (bootstrapHash !== null && isSame(hash, bootstrapHash)) {
      return { id: BOOTSTRAP, name: BOOTSTRAP, role: 'ops' };
    }
    const key = await keys.findByHash(hash);
    return key && { id: key.id, name: key.name, role: key.role };
  };
  const signIn: SignIn = {
    holderOf,
    async check(key, address) {
      const hash = hashOf(key);
      const checked = await guessing.check(address, () => holderOf(hash));
      return checked.kind === 'held' ? { kind: 'held', actor: checked.holder, keyHash: hash } : checked;
    },
  };
  return withSessions(signIn, () => Promise.resolve(null));
}

/** Lets in whoever is signed in, too, as far as they only read. */
export function withSessions(signIn: SignIn, sessionActor: SessionActor): Authenticator {
  return {
    check: (key, address) => signIn.check(key, address),
    holderOf: (keyHash) => signIn.holderOf(keyHash),
    async signedIn(request) {
      const { method, headers } = request;
      return method === 'GET' && headers.authorization === undefined ? sessionActor(request) : null;
    },
  };
}

/** The refusal of a wrong key over the limit. */
export function slowed({ retryAfterMs }: { readonly retryAfterMs: number }): Refused {
  return problem({
    httpStatus: 429,
    error: {
      code: 'too_many_wrong_keys',
      message: 'The API key is wrong, and too many wrong ones came from this address. A valid key is accepted.',
    },
    retryAfterMs,
  });
}

/** A new key: recognisable as ours, and too long to guess. */
export function newApiKey(): string {
  return `thk_${randomBytes(32).toString('base64url')}`;
}

export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** The key of an `Authorization: Bearer` header, null when there is none. */
export function bearerKey(request: IncomingMessage): string | null {
  const match = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '');
  return match?.[1] ?? null;
}

/** The password of Basic authentication, null when there is none. */
export function basicPassword(request: IncomingMessage): string | null {
  const match = /^Basic +(\S+)$/i.exec(request.headers.authorization ?? '');
  if (match?.[1] === undefined) return null;
  const pair = Buffer.from(match[1], 'base64').toString();
  const colon = pair.indexOf(':');
  return colon === -1 ? null : pair.slice(colon + 1);
}

function isSame(hash: string, known: string): boolean {
  const [given, expected] = [Buffer.from(hash), Buffer.from(known)];
  return given.length === expected.length && timingSafeEqual(given, expected);
}
