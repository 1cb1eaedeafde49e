import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import type { ApiKeyStore } from '../workflow/ports';
import type { Actor } from '../workflow/progress';
import { addressOf, type Checked, type Guessing } from './guessing';
import { sendError } from './reply';

/** Who calls, by the key of the call. Keys are long random texts, so their plain hash is safe to store. */
export interface Authenticator {
  /** The holder of a key that a request carries, unless too many wrong ones came from where it comes from. */
  check(key: string, request: Request): Promise<Checked<Actor>>;
}

export interface AuthenticatorOptions {
  readonly keys: Pick<ApiKeyStore, 'findByHash'>;
  /** Valid whatever becomes of the stored keys; null when none is configured. */
  readonly bootstrapApiKey: string | null;
  readonly guessing: Guessing;
}

/** The name and the id of whoever holds the configured key; no stored key may have them. */
export const BOOTSTRAP = 'bootstrap';

export function createAuthenticator({ keys, bootstrapApiKey, guessing }: AuthenticatorOptions): Authenticator {
  const bootstrapHash = bootstrapApiKey === null ? null : hashOf(bootstrapApiKey);
  const holderOf = async (hash: string): Promise<Actor | null> => {
    if (bootstrapHash !== null && timingSafeEqual(Buffer.from(hash), Buffer.from(bootstrapHash))) {
      return { id: BOOTSTRAP, name: BOOTSTRAP, role: 'ops' };
    }
    const key = await keys.findByHash(hash);
    return key && { id: key.id, name: key.name, role: key.role };
  };
  return {
    check(key, request) {
      const hash = hashOf(key);
      return guessing.check({ address: addressOf(request), hash }, () => holderOf(hash));
    },
  };
}

/** Answers a call whose key was not looked at. */
export function sendSlowed(response: Response, { retryAfterMs }: { retryAfterMs: number }): void {
  response.set('retry-after', String(Math.ceil(retryAfterMs / 1000)));
  sendError(response, 429, {
    code: 'too_many_wrong_keys',
    message: 'Too many wrong API keys came from this address; none is looked at for a while.',
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
export function bearerKey(request: Request): string | null {
  const match = /^Bearer +(\S+)$/i.exec(request.get('authorization') ?? '');
  return match?.[1] ?? null;
}

/** The password of Basic authentication, null when there is none. */
export function basicPassword(request: Request): string | null {
  const match = /^Basic +(\S+)$/i.exec(request.get('authorization') ?? '');
  if (match?.[1] === undefined) return null;
  const pair = Buffer.from(match[1], 'base64').toString();
  const colon = pair.indexOf(':');
  return colon === -1 ? null : pair.slice(colon + 1);
}
