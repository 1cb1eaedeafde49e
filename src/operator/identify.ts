import type { Express, Request, RequestHandler, Response } from 'express';
import type { Actor } from '../domain/ops/audit';
import { basicPassword, bearerKey, tooManyWrongKeys, type Authenticator } from './authenticate';
import { sendError, sendRefusal } from './send-response';

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
