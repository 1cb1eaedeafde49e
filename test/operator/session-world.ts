import type { IncomingMessage } from 'node:http';
import type { Role } from '../../src/domain/vocabulary';
import type { Foundation } from '../../src/main/foundation';
import { openSignIn } from '../../src/main/operator';
import { hashOf } from '../../src/operator/authenticate';
import { createSessionStore } from '../../src/store/sessions';
import type { App } from '../support/app';
import { api, newKey } from './client';
import { operatorOn } from './in-process';

/** Console sessions written to the store directly, without the sign-in pages. */

const COOKIE = /(?:^|; )session=([^;]+)/;
const LIFETIME_MS = 60_000;

/** Reads sessions from the store of a process, as a console does. */
export function openSessions(foundation: Foundation) {
  const signIn = openSignIn(foundation);
  const store = createSessionStore(foundation.redis);
  const sessionActor = async ({ headers }: Pick<IncomingMessage, 'headers'>) => {
    const id = COOKIE.exec(headers.cookie ?? '')?.[1];
    const session = id === undefined ? null : await store.read(id);
    return session && signIn.holderOf(session.keyHash);
  };
  return { signIn, store, sessionActor };
}

type Sessions = ReturnType<typeof openSessions>;

/** An operator API that accepts these sessions, as that of a console does. */
export function operatorWith(foundation: Foundation, { signIn, sessionActor }: Sessions) {
  return operatorOn(foundation, { signIn, sessionActor });
}

/** Makes a key of this role and signs its holder in; `cookie` is the header that their browser sends. */
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
      await api(app)
        .delete(`/api/keys/${holder?.id ?? ''}`)
        .expect(204);
    },
    signOut: () => sessions.store.end(id),
  };
}
