import type { Request, Response } from 'express';
import type { Actor } from '../workflow/progress';
import { bearerKey, slowed, type Authenticator } from './authenticate';
import { sendError, sendRefusal } from './reply';

/** Who makes a request, and whether they still may, for answers that go on for long. */
export interface Caller {
  readonly actor: Actor;
  /** False once the key or the session has ended. Rejects while nobody can say. */
  readonly isStillIn: () => Promise<boolean>;
}

/** The caller by their key, or of a request without one by their session; null after a 401 or a 429 has been sent. */
export async function identify(
  request: Request,
  response: Response,
  authenticator: Authenticator,
): Promise<Caller | null> {
  const key = bearerKey(request);
  if (key === null) {
    const actor = await authenticator.signedIn(request);
    if (actor) {
      keepUnstored(response);
      return { actor, isStillIn: async () => (await authenticator.signedIn(request)) !== null };
    }
  } else {
    const checked = await authenticator.check(key, request.ip);
    if (checked.kind === 'held') {
      const isStillIn = async () => (await authenticator.holderOf(checked.keyHash)) !== null;
      return { actor: checked.actor, isStillIn };
    }
    if (checked.kind === 'slowed') {
      sendRefusal(response, slowed(checked).refusal);
      return null;
    }
  }
  response.set('www-authenticate', 'Bearer');
  sendError(response, 401, {
    code: 'not_authenticated',
    message: 'A valid API key is needed: Authorization: Bearer <key>.',
  });
  return null;
}

/** What a session opens is gone from the browser when the session is: no cache keeps it. */
export function keepUnstored(response: Response): void {
  response.set('cache-control', 'private, no-store');
}
