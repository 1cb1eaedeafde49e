import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import type { ApiKeyStore } from '../workflow/ports';
import type { Actor } from '../workflow/progress';

/** Who calls, by the key of the call. Keys are long random texts, so their plain hash is safe to store. */
export interface Authenticator {
  /** The holder of a key, null when nobody holds it. */
  holderOf(key: string): Promise<Actor | null>;
}

export function createAuthenticator(keys: ApiKeyStore, bootstrapApiKey: string | null): Authenticator {
  const bootstrapHash = bootstrapApiKey === null ? null : hashOf(bootstrapApiKey);
  return {
    async holderOf(key) {
      const hash = hashOf(key);
      if (bootstrapHash !== null && timingSafeEqual(Buffer.from(hash), Buffer.from(bootstrapHash))) {
        return { name: 'bootstrap', role: 'ops' };
      }
      return keys.findByHash(hash);
    },
  };
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
