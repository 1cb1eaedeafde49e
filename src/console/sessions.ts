import { randomBytes, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request } from 'express';
import type { Actor } from '../domain/ops/audit';
import type { Clock } from '../platform/clock';
import { sha256Hex } from '../platform/hash';
import type { Session, SessionStore, SignIn } from '../workflow/operator-port';
import { isOverTls, wantsPart, type HttpExchange } from './requests';

/**
 * Sessions of signed-in users. The browser holds a random id in a cookie that no script can read and no other site can
 * send. Redis holds the hash of the id, and the hash of the API key or the person. A session ends with its key, after 12
 * hours without a page view or form, and 7 days after sign-in at the latest; that of a person after 24 hours, because
 * the role is read at sign-in. Background requests of a page do not prolong it.
 */
export interface Sessions {
  /** The user of this request; null without a session. Prolongs the session, except for requests of parts. */
  visitorOf(request: Request): Promise<SessionUser | null>;
  /** The user of a request, for reads of the API. Does not prolong the session. */
  readerOf(request: Request): Promise<Actor | null>;
  /** Begins a session and ends the previous one of the browser. Returns the user of the new session. */
  begin(exchange: HttpExchange, by: SignedIn): Promise<SessionUser>;
  end(exchange: HttpExchange): Promise<void>;
  /** Ends all sessions of the user's key or of the person, including this one. */
  endAll(exchange: HttpExchange, visitor: SessionUser): Promise<void>;
}

/** How people may sign in. */
export interface SignInWays {
  readonly keys: boolean;
  /** The identity provider, and the claim with the role of a person; null without one. */
  readonly provider: { readonly roleClaim: string } | null;
}

const KEYS_ALONE: SignInWays = { keys: true, provider: null };

/** Who signs in. */
interface SignedIn {
  readonly actor: Actor;
  /** Null for a person whom the identity provider has named. */
  readonly keyHash: string | null;
}

export interface SessionUser {
  readonly actor: Actor;
  /** In every form, against cross-site request forgery: only pages of this session contain it. */
  readonly formToken: string;
}

const COOKIE = 'towhook_session';
const IDLE_MS = 12 * 3_600_000;
const LIFE_MS = 7 * 24 * 3_600_000;
const LIFE_OF_PERSON_MS = 24 * 3_600_000;

export function createSessions({
  store,
  signIn,
  clock,
  ways = KEYS_ALONE,
}: {
  store: SessionStore;
  signIn: Pick<SignIn, 'holderOf'>;
  clock: Clock;
  /** Sessions that began in a way which is switched off have ended. */
  ways?: SignInWays;
}): Sessions {
  const holderOf = async (session: Session | null): Promise<Actor | null> => {
    if (session === null) return null;
    const ageMs = clock.nowMs() - Date.parse(session.createdAt);
    // An unreadable timestamp ends the session.
    if ('person' in session) return ways.provider && ageMs < LIFE_OF_PERSON_MS ? session.person : null;
    return ways.keys && ageMs < LIFE_MS ? signIn.holderOf(session.keyHash) : null;
  };
  const end = async ({ request, response }: HttpExchange) => {
    const id = idIn(request);
    if (id !== null) await store.end(hashOf(id));
    response.append('set-cookie', cookieOf(request, hostCookie(request, COOKIE), '', 0));
  };
  return {
    async visitorOf(request) {
      const id = idIn(request);
      if (id === null) return null;
      const hash = hashOf(id);
      const holder = await holderOf(
        wantsPart(request.headers) ? await store.read(hash) : await store.prolong(hash, IDLE_MS),
      );
      return holder && { actor: holder, formToken: formTokenOf(id) };
    },
    async readerOf(request) {
      const id = idIn(request);
      return id === null ? null : holderOf(await store.read(hashOf(id)));
    },
    async begin({ request, response }, { keyHash, actor }) {
      // Always a new id, against session fixation.
      const id = randomBytes(32).toString('base64url');
      const atMs = clock.nowMs();
      const createdAt = new Date(atMs).toISOString();
      const session = keyHash === null ? { person: actor, createdAt } : { keyHash, createdAt };
      await store.begin(hashOf(id), session, IDLE_MS);
      // Listed after it is stored. A sign-out everywhere empties the list, so a session that is listed first and stored
      // after that would live without being listed.
      await store.list(actor.id, hashOf(id), { atMs, lifetimeMs: LIFE_MS });
      const replaced = idIn(request);
      if (replaced !== null) await store.end(hashOf(replaced));
      response.append('set-cookie', cookieOf(request, hostCookie(request, COOKIE), id));
      return { actor, formToken: formTokenOf(id) };
    },
    end,
    async endAll(exchange, { actor }) {
      await store.endAll(actor.id);
      // It may be missing in the list of sessions.
      await end(exchange);
    },
  };
}

/** True if a form has the token of the session. */
export function isFormOf(visitor: SessionUser, token: string): boolean {
  const [known, given] = [Buffer.from(visitor.formToken), Buffer.from(token)];
  return known.length === given.length && timingSafeEqual(known, given);
}

/** A cookie for this site, invisible to scripts, and secure if the page came over TLS. */
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

/** The name of a cookie. With the `__Host-` prefix browsers do not let other hosts of the domain set it. */
export function hostCookie(request: Request, name: string): string {
  return isOverTls(request) ? `__Host-${name}` : name;
}

/** The value of a cookie with such a name; null without one. */
export function hostCookieIn(request: Request, name: string): string | null {
  const value = parseCookie(request.headers.cookie ?? '')[hostCookie(request, name)];
  return value === undefined || value === '' ? null : value;
}

function idIn(request: Request): string | null {
  return hostCookieIn(request, COOKIE);
}

function formTokenOf(id: string): string {
  return hashOf(`form ${id}`);
}

function hashOf(text: string): string {
  return sha256Hex(text);
}
