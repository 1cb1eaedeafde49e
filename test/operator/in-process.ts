import express from 'express';
import type { ChangeView } from '../../src/contracts/ops/changes';
import { ROUTES } from '../../src/contracts/operator-routes';
import type { Route } from '../../src/contracts/routes/route';
import { openOperator, openSignIn } from '../../src/main/console';
import { listen } from '../../src/platform/http';
import type { ApiAnswer, ApiCallRefusal, OperatorApi } from '../../src/workflow/operator-port';
import type { Response } from 'supertest';
import { api, errorOf, newKey } from './client';
import { createServer, type IncomingMessage } from 'node:http';
import type { Role } from '../../src/domain/vocabulary';
import type { Foundation } from '../../src/main/foundation';
import { createAuthenticator, keyHashOf, type SessionActor } from '../../src/operator/authenticate';
import { serveEvents } from '../../src/operator/ops/changes';
import { openChangeFeed } from '../../src/store/ops/changes';
import { silentLog } from '../../src/platform/log/log';
import { createResources } from '../../src/platform/resources';
import type { ChangeListener } from '../../src/workflow/ops/changes';
import { createSessionStore } from '../../src/store/person/sessions';
import type { App } from '../support/app';
import { once } from 'node:events';
import type { Actor } from '../../src/domain/ops/audit';

/** The operator API as the pages of the same process call it. */

export const actorOf = (role: Role): Actor => ({ id: `id of ${role}`, name: `${role} in process`, role });

/** Accepts API keys only. */
export const noSession: SessionActor = () => Promise.resolve(null);

/** Opens a second operator API over the records of a running console; it is closed with the console. */
export function operatorOn(foundation: Foundation, access: Partial<Parameters<typeof openOperator>[1]> = {}) {
  const operator = openOperator(foundation, { signIn: openSignIn(foundation), sessionActor: noSession, ...access });
  return foundation.resources.add('operator of the test', operator, (opened) => opened.close());
}

/** Serves an application on a free port while `doing` runs. */
export async function serving<T>(application: Parameters<typeof listen>[0], doing: (url: string) => Promise<T>) {
  const ready = () => Promise.resolve({ ready: true, details: {} });
  const listener = await listen(application, { ready }, { host: '127.0.0.1', port: 0 });
  try {
    return await doing(listener.url);
  } finally {
    await listener.stop(100);
  }
}

/** The path parameters by their names in the route. */
export function paramsIn(route: Route, path: string): Record<string, string> {
  const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');
  const found = new RegExp(`^${route.path.replaceAll(/:\w+/g, '([^/]+)')}$`).exec(path);
  if (!found) throw new Error(`${path} is not at ${route.path}`);
  return Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(found[at + 1] ?? '')]));
}

export function valueIn<T>(answer: ApiAnswer<T>): T {
  if (!answer.ok) throw new Error(`refused: ${JSON.stringify(answer.refusal)}`);
  return answer.value;
}

export function refusalIn(answer: ApiAnswer<unknown>): ApiCallRefusal {
  if (answer.ok) throw new Error(`not refused: ${JSON.stringify(answer.value)}`);
  return answer.refusal;
}

/** The refusal in an HTTP response, in the shape of a refusal in process. `Retry-After` counts whole seconds. */
export function refusalOver(response: Response): ApiCallRefusal {
  const seconds = response.get('retry-after');
  return {
    httpStatus: response.status,
    ...errorOf(response),
    retryAfterMs: seconds === undefined ? null : Number(seconds) * 1000,
  };
}

const COOKIE = /(?:^|; )session=([^;]+)/;
const LIFETIME_MS = 60_000;

/** Reads sessions from the store of a process, as a console does. */
export function openSessions(foundation: Foundation) {
  const signIn = openSignIn(foundation);
  const store = createSessionStore(foundation.redis);
  const sessionActor = async ({ headers }: Pick<IncomingMessage, 'headers'>) => {
    const id = COOKIE.exec(headers.cookie ?? '')?.[1];
    const session = id === undefined ? null : await store.read(id);
    return session && 'keyHash' in session ? signIn.holderOf(session.keyHash) : null;
  };
  return { signIn, store, sessionActor };
}

type OpenSessions = ReturnType<typeof openSessions>;

/** An operator API that accepts these sessions, as that of a console does. */
export function operatorWith(foundation: Foundation, { signIn, sessionActor }: OpenSessions) {
  return operatorOn(foundation, { signIn, sessionActor });
}

/** Makes a key of this role and signs its holder in; `cookie` is the header that their browser sends. */
export async function signedIn(
  app: Pick<App, 'consoleUrl' | 'apiKey' | 'foundation'>,
  sessions: OpenSessions,
  role: Role,
) {
  const apiKey = await newKey(app, role);
  const keyHash = keyHashOf(apiKey);
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

export const TOKEN = 'token-of-the-page';
export const OWN = { token: TOKEN, send_once: 'a-key-of-the-page' };

export type PageFormResult = Awaited<ReturnType<OperatorApi['form']>>;

export interface FormPage {
  readonly url: string;
  /** The API's result for each form, in order; `rejected` where its promise was rejected. */
  readonly results: (PageFormResult | 'rejected')[];
  stop(): Promise<void>;
}

/** Starts a web page that passes its forms to the operator API in the same process. It responds 200 with the API's result, and 503 when the API rejects. */
export async function startFormPage(api: OperatorApi, actor: Actor): Promise<FormPage> {
  const results: (PageFormResult | 'rejected')[] = [];
  const server = createServer((request, response) => {
    const form = api.form(ROUTES.reportViolation, {
      actor,
      request,
      hiddenFields: Object.keys(OWN),
      isGenuine: ({ token }) => token === TOKEN,
      idempotencyField: 'send_once',
      textOf: (_name, entered) => entered,
    });
    const respond = (status: number, result: PageFormResult | 'rejected') => {
      results.push(result);
      const body = Buffer.from(JSON.stringify(result));
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      response.writeHead(status, headers).end(body);
    };
    form.then(
      (result) => respond(200, result),
      () => respond(503, 'rejected'),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the page has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    results,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A change that Redis does not have. */
export const CHANGE: ChangeView = {
  cursor: '000000000000-1-0',
  at: '2026-03-10T12:00:00.000Z',
  type: 'tow.changed',
  subject: { kind: 'tow', id: 'TW-1' },
  sequence: 1,
  data: {},
};

/** Serves an event stream with its own limits, over the API keys of a running console. */
export async function startEventStream(
  foundation: Foundation,
  {
    blockMs,
    ...limits
  }: Omit<Parameters<typeof serveEvents>[2], 'clock' | 'changes'> & {
    /** How long the feed waits for a change before it looks at the stream again. */
    readonly blockMs?: number;
  },
  sessionActor = noSession,
) {
  const application = express();
  const authenticator = createAuthenticator(openSignIn(foundation), sessionActor);
  const owned = createResources(silentLog);
  const feed = openChangeFeed(foundation.redis, foundation.patient(owned), silentLog, blockMs);
  // The first look tells all who listen already.
  await new Promise<void>((resolve) => {
    const leave = feed.follow({ changed: () => {}, missed: () => (leave(), resolve()) });
  });
  const listening: ChangeListener[] = [];
  const follow = (listener: ChangeListener) => {
    listening.push(listener);
    return feed.follow(listener);
  };
  const { clock } = foundation;
  const events = serveEvents(application, authenticator, { clock, changes: { ...feed, follow }, ...limits });
  const ready = () => Promise.resolve({ ready: true, details: {} });
  const listener = await listen(application, { ready }, { host: '127.0.0.1', port: 0 });
  return {
    url: listener.url,
    feed,
    /** As if Redis had this change. */
    publish: (change: ChangeView) => listening.forEach(({ changed }) => changed([change])),
    missed: (cursor: string) => listening.forEach(({ missed }) => missed(cursor)),
    async stop() {
      events.close();
      feed.stop();
      await owned.closeAll();
      await listener.stop(100);
    },
  };
}
