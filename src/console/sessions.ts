import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, Response } from 'express';
import type { Actor } from '../domain/audit';
import type { Clock } from '../platform/clock';
import type { Session, SessionStore, SignIn } from '../workflow/operator-port';
import { isOverTls, wantsPart } from './requests';

/**
 * Who has signed in. The browser holds a random id in a cookie that no script reads and no other site can send; Redis
 * holds its hash and the hash of the key it began with. A session ends when its key does, after 12 hours in which nobody
 * opened a page or sent a form, and 7 days after it began at the latest. What a page does by itself prolongs nothing.
 */
export interface Sessions {
  /** Who makes this request; null when nobody has signed in with its cookie. Prolongs the session, unless for a part. */
  visitorOf(request: Request): Promise<Visitor | null>;
  /** Who makes a request, for reads of the API; prolongs nothing. */
  readerOf(request: Request): Promise<Actor | null>;
  /** Ends the session that the browser had before. */
  begin(exchange: Exchange, by: { keyHash: string; actor: Actor }): Promise<void>;
  end(exchange: Exchange): Promise<void>;
  /** Ends all sessions that began with the visitor's key, this one included. */
  endAll(exchange: Exchange, visitor: Visitor): Promise<void>;
}

interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

export interface Visitor {
  readonly actor: Actor;
  readonly keyHash: string;
  /** Stands in every form; whoever cannot read a page of this session does not know it. */
  readonly formToken: string;
}

const COOKIE = 'towhook_session';
const IDLE_MS = 12 * 3_600_000;
const LIFE_MS = 7 * 24 * 3_600_000;

export function createSessions({
  store,
  signIn,
  clock,
}: {
  store: SessionStore;
  signIn: Pick<SignIn, 'holderOf'>;
  clock: Clock;
}): Sessions {
  const holderOf = async (session: Session | null): Promise<{ actor: Actor; keyHash: string } | null> => {
    // A moment that cannot be read is no reason to let anybody stay.
    if (session === null || !(clock.nowMs() - Date.parse(session.createdAt) < LIFE_MS)) return null;
    const actor = await signIn.holderOf(session.keyHash);
    return actor && { actor, keyHash: session.keyHash };
  };
  const end = async ({ request, response }: Exchange) => {
    const id = idIn(request);
    if (id !== null) await store.end(hashOf(id));
    response.append('set-cookie', cookieOf(request, cookieName(request), '', 0));
  };
  return {
    async visitorOf(request) {
      const id = idIn(request);
      if (id === null) return null;
      const hash = hashOf(id);
      const holder = await holderOf(
        wantsPart(request.headers) ? await store.read(hash) : await store.prolong(hash, IDLE_MS),
      );
      return holder && { ...holder, formToken: hashOf(`form ${id}`) };
    },
    async readerOf(request) {
      const id = idIn(request);
      return id === null ? null : ((await holderOf(await store.read(hashOf(id))))?.actor ?? null);
    },
    async begin({ request, response }, { keyHash, actor }) {
      // Never the id that came in: somebody else may have planted it.
      const id = randomBytes(32).toString('base64url');
      const atMs = clock.nowMs();
      await store.list(actor.id, hashOf(id), { atMs, lifetimeMs: LIFE_MS });
      await store.begin(hashOf(id), { keyHash, createdAt: new Date(atMs).toISOString() }, IDLE_MS);
      const replaced = idIn(request);
      if (replaced !== null) await store.end(hashOf(replaced));
      response.append('set-cookie', cookieOf(request, cookieName(request), id));
    },
    end,
    async endAll(exchange, { actor }) {
      await store.endAll(actor.id);
      // It may have begun before sessions were listed.
      await end(exchange);
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

/** Over TLS no other site of the same domain can set or replace a cookie of this name: browsers see to that. */
function cookieName(request: Request): string {
  return isOverTls(request) ? `__Host-${COOKIE}` : COOKIE;
}

function idIn(request: Request): string | null {
  const id = parseCookie(request.headers.cookie ?? '')[cookieName(request)];
  return id === undefined || id === '' ? null : id;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
