import type { IncomingHttpHeaders } from 'node:http';
import type { Role } from '../../src/domain/vocabulary';
import type { Foundation } from '../../src/main/foundation';
import { openSignIn } from '../../src/main/operator';
import { hashOf } from '../../src/operator/authenticate';
import { createSessionStore } from '../../src/store/sessions';
import type { App } from '../support/app';
import { call, newKey } from './client';
import { operatorOn } from './in-process';

/** People who are signed in, without the pages on which they would sign in. */

const COOKIE = /(?:^|; )session=([^;]+)/;
const LIFETIME_MS = 60_000;

/** Who is signed in, by sessions in the store of a process. */
export function openSessions(foundation: Foundation) {
  const signIn = openSignIn(foundation);
  const store = createSessionStore(foundation.redis);
  const sessionActor = async ({ cookie = '' }: IncomingHttpHeaders) => {
    const id = COOKIE.exec(cookie)?.[1];
    const session = id === undefined ? null : await store.read(id);
    return session && signIn.holderOf(session.keyHash);
  };
  return { signIn, store, sessionActor };
}

type Sessions = ReturnType<typeof openSessions>;

/** An operator API that believes these sessions, as that of a console does. */
export function operatorWith(foundation: Foundation, { signIn, sessionActor }: Sessions) {
  return operatorOn(foundation, { signIn, sessionActor });
}

/** Somebody with a key of this role who is signed in; `cookie` is what their browser sends. */
export async function signedIn(app: Pick<App, 'consoleUrl' | 'apiKey' | 'foundation'>, sessions: Sessions, role: Role) {
  const apiKey = await newKey(app, role);
  const keyHash = hashOf(apiKey);
  const id = app.foundation.clock.id();
  await sessions.store.begin(id, { keyHash, createdAt: '2026-03-10T12:00:00.000Z' }, LIFETIME_MS);
  return {
    apiKey,
    id,
    keyHash,
    cookie: `theme=dark; session=${id}`,
    async revokeKey() {
      const holder = await sessions.signIn.holderOf(keyHash);
      return call(app, ['DELETE', `/api/keys/${holder?.id ?? ''}`]);
    },
    signOut: () => sessions.store.end(id),
  };
}
