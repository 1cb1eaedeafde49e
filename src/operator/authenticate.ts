import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request, Express, RequestHandler, Response } from 'express';
import type { Actor } from '../domain/ops/audit';
import type { Clock } from '../platform/clock';
import { sha256Hex } from '../platform/hash';
import type { Log } from '../platform/log/log';
import { throttledLog } from '../platform/log/log-throttle';
import type { Metrics } from '../platform/log/metrics';
import { sourceOf } from '../platform/connections';
import type { SignIn, SourceLimit } from '../workflow/operator-port';
import type { ApiKeyStore } from '../workflow/ports';
import { refusedResponse, type RefusedResponse } from './responses';
import { sendError, sendRefusal } from './send-response';

/** Finds the actor of a request, by its API key or its console session. */
export interface Authenticator extends SignIn {
  /**
   * The actor of the console session of a GET or HEAD request without a key; null for any other request, as another site
   * may have caused it. Rejects while the session store is unavailable.
   */
  signedIn(request: Request): Promise<Actor | null>;
}

/** Finds the actor of a request by its session cookie; null without a session. */
export type SessionActor = (request: Request) => Promise<Actor | null>;

export interface SignInOptions {
  readonly keys: Pick<ApiKeyStore, 'findByHash'>;
  /** The key of the configuration: valid as long as the process runs. Null when not configured. */
  readonly bootstrapApiKey: string | null;
  /** Shared by all processes. */
  readonly wrongKeys: SourceLimit;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'keyRefused'>;
}

/** Name and id of the holder of the configured key. Stored keys cannot have this name. */
export const BOOTSTRAP = 'bootstrap';

/**
 * Checks API keys. Keys are long random texts, so a plain SHA-256 hash is safe to store. Wrong keys are limited per source
 * address; a valid key is always accepted. Create one per process, because it throttles its log.
 */
export function createSignIn(options: SignInOptions): SignIn {
  const { keys, bootstrapApiKey, wrongKeys, metrics } = options;
  const log = throttledLog(options.log, { clock: options.clock });
  const bootstrapHash = bootstrapApiKey === null ? null : keyHashOf(bootstrapApiKey);
  const holderOf = async (hash: string): Promise<Actor | null> => {
    if (bootstrapHash !== null && isSame(hash, bootstrapHash)) {
      return { id: BOOTSTRAP, name: BOOTSTRAP, role: 'ops' };
    }
    const key = await keys.findByHash(hash);
    return key && { id: key.id, name: key.name, role: key.role };
  };
  return {
    holderOf,
    async check(key, address) {
      const keyHash = keyHashOf(key);
      const actor = await holderOf(keyHash);
      if (actor !== null) return { kind: 'valid', actor, keyHash };
      const source = sourceOf(address);
      const retryAfterMs = await wrongKeys.count(source);
      metrics.keyRefused(retryAfterMs === null ? 'wrong' : 'slowed');
      if (retryAfterMs === null) return { kind: 'wrong' };
      log.warn('auth.guessing', { address: source });
      return { kind: 'rate_limited', retryAfterMs };
    },
  };
}

/** Accepts API keys, and console sessions for requests that only read. */
export function createAuthenticator(signIn: SignIn, sessionActor: SessionActor): Authenticator {
  return {
    check: (key, address) => signIn.check(key, address),
    holderOf: (keyHash) => signIn.holderOf(keyHash),
    async signedIn(request) {
      const { method, headers } = request;
      const isReading = method === 'GET' || method === 'HEAD';
      return isReading && headers.authorization === undefined ? sessionActor(request) : null;
    },
  };
}

export function tooManyWrongKeys({ retryAfterMs }: { readonly retryAfterMs: number }): RefusedResponse {
  const message = 'The API key is wrong, and this address has sent too many wrong keys. A valid key is accepted.';
  return refusedResponse(429, { code: 'too_many_wrong_keys', message }, retryAfterMs);
}

export function newApiKey(): string {
  return `thk_${randomBytes(32).toString('base64url')}`;
}

export function keyHashOf(key: string): string {
  return sha256Hex(key);
}

/** The key of an `Authorization: Bearer` header, else null. */
export function bearerKey(request: IncomingMessage): string | null {
  const match = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '');
  return match?.[1] ?? null;
}

/** The password of Basic authentication, else null. */
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

/** The caller of a request. */
export interface Caller {
  readonly actor: Actor;
  /** False once the key or session has ended; for responses that stay open. Rejects while the store is unavailable. */
  readonly isStillValid: () => Promise<boolean>;
}

/** Finds the caller by API key, or by session for a request without one. Returns null after it has sent 401 or 429. */
export async function identify(
  request: Request,
  response: Response,
  authenticator: Authenticator,
): Promise<Caller | null> {
  const key = bearerKey(request);
  if (key === null) {
    const actor = await authenticator.signedIn(request);
    if (actor) {
      forbidCaching(response);
      return { actor, isStillValid: async () => (await authenticator.signedIn(request)) !== null };
    }
  } else {
    const checked = await authenticator.check(key, request.ip);
    if (checked.kind === 'valid') {
      const isStillValid = async () => (await authenticator.holderOf(checked.keyHash)) !== null;
      return { actor: checked.actor, isStillValid };
    }
    if (checked.kind === 'rate_limited') {
      sendRefusal(response, tooManyWrongKeys(checked).refusal);
      return null;
    }
  }
  response.set('www-authenticate', 'Bearer');
  sendError(response, 401, {
    code: 'not_authenticated',
    message: 'A valid API key is required. Send it as Authorization: Bearer <key>.',
  });
  return null;
}

/** Accepts a session with the role ops, or an ops key as the Basic password with any user name. */
export function requireOps(authenticator: Authenticator): RequestHandler {
  return async (request, response, next) => {
    const password = basicPassword(request);
    const checked = password === null ? null : await authenticator.check(password, request.ip);
    if (checked?.kind === 'valid' && checked.actor.role === 'ops') return next();
    if (checked?.kind === 'rate_limited') return sendRefusal(response, tooManyWrongKeys(checked).refusal);
    if ((await authenticator.signedIn(request))?.role === 'ops') {
      forbidCaching(response);
      return next();
    }
    response.set('www-authenticate', 'Basic realm="towhook queues", charset="UTF-8"');
    const message = 'Sign in with an API key of the role ops as the password.';
    sendError(response, 401, { code: 'not_authenticated', message });
  };
}

/** Keeps what a session may read out of caches, so that it is not readable after the session. */
function forbidCaching(response: Response): void {
  response.set('cache-control', 'private, no-store');
}

/** Paths that need a caller of any role, unless the configuration opens them. */
const PROTECTED_PATHS = { metrics: ['/metrics'], docs: ['/docs', '/openapi.json'] } as const;

export type OpenPath = keyof typeof PROTECTED_PATHS;

/** Protects the metrics and the API documentation, except those in `open`. Call it before their handlers are added. */
export function protectPaths(app: Express, authenticator: Authenticator, open: readonly OpenPath[]): void {
  const requireCaller: RequestHandler = async (request, response, next) => {
    if (await identify(request, response, authenticator)) next();
  };
  for (const name of ['metrics', 'docs'] as const) {
    if (!open.includes(name)) app.use([...PROTECTED_PATHS[name]], requireCaller);
  }
}
