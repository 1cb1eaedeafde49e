import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, Response } from 'express';
import type { Actor } from '../domain/audit';
import type { Clock } from '../platform/clock';
import type { SessionStore, SignIn } from '../workflow/operator-port';

/**
 * Who has signed in. The browser holds a random id in a cookie that no script reads and no other site can send; Redis
 * holds its hash and the hash of the key it began with. A session ends when its key does, or after 12 idle hours.
 */
export interface Sessions {
  /** Who sends this cookie header; null when nobody has signed in with it. */
  visitorOf(cookieHeader: string | undefined): Promise<Visitor | null>;
  begin(exchange: { request: Request; response: Response }, keyHash: string): Promise<void>;
  end(exchange: { request: Request; response: Response }): Promise<void>;
}

export interface Visitor {
  readonly actor: Actor;
  readonly keyHash: string;
  /** Stands in every form; whoever cannot read a page of this session does not know it. */
  readonly formToken: string;
}

const COOKIE = 'towhook_session';
const IDLE_MS = 12 * 3_600_000;

export function createSessions({
  store,
  signIn,
  clock,
}: {
  store: SessionStore;
  signIn: Pick<SignIn, 'holderOf'>;
  clock: Clock;
}): Sessions {
  return {
    async visitorOf(cookieHeader) {
      const id = idIn(cookieHeader);
      if (id === null) return null;
      const session = await store.read(hashOf(id), IDLE_MS);
      const actor = session && (await signIn.holderOf(session.keyHash));
      return session && actor && { actor, keyHash: session.keyHash, formToken: hashOf(`form ${id}`) };
    },
    async begin({ request, response }, keyHash) {
      // Never the id that came in: somebody else may have planted it.
      const id = randomBytes(32).toString('base64url');
      await store.begin(hashOf(id), { keyHash, createdAt: new Date(clock.nowMs()).toISOString() }, IDLE_MS);
      response.append('set-cookie', cookieOf(request, COOKIE, id));
    },
    async end({ request, response }) {
      const id = idIn(request.get('cookie'));
      if (id !== null) await store.end(hashOf(id));
      response.append('set-cookie', cookieOf(request, COOKIE, '', 0));
    },
  };
}

/** True when a form carries the token of its visitor. */
export function isFormOf(visitor: Visitor, token: string): boolean {
  const [known, given] = [Buffer.from(visitor.formToken), Buffer.from(token)];
  return known.length === given.length && timingSafeEqual(known, given);
}

/** A cookie of ours: for this site alone, unread by scripts, over TLS only where the page came over TLS. */
export function cookieOf(request: Request, name: string, value: string, maxAgeSeconds?: number): string {
  return stringifySetCookie({
    name,
    value,
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: isOverTls(request),
    ...(maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds }),
  });
}

export function isOverTls(request: Request): boolean {
  return request.secure || request.get('x-forwarded-proto') === 'https';
}

function idIn(cookieHeader: string | undefined): string | null {
  const id = cookieHeader === undefined ? undefined : parseCookie(cookieHeader)[COOKIE];
  return id === undefined || id === '' ? null : id;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
