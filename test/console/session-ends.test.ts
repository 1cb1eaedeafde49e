import express from 'express';
import { createSessions } from '../../src/console';
import { newApiKeyView } from '../../src/contracts/operator';
import { createSessionStore } from '../../src/store/person/sessions';
import { api, newKey } from '../operator/client';
import { actorOf, serving } from '../operator/in-process';
import { useApp } from '../support/app';
import { signedIn, signedOutVisitor, textOf } from './visitor';

const app = useApp({ role: 'console' });

describe('console: end of sessions', () => {
  test('ends the session that a sign-in of the same browser replaces, also for a copy of its cookie', async () => {
    const visitor = await signedIn(app, await newKey(app, 'viewer'));
    const copy = signedOutVisitor(app);
    copy.cookies.set('towhook_session', visitor.cookies.get('towhook_session') ?? '');
    expect((await copy.get('/board')).status).toBe(200);
    await visitor.post('/sign-in', { key: app.apiKey });
    expect((await visitor.get('/board')).status).toBe(200);
    expect((await copy.get('/board')).status).toBe(303);
    expect((await copy.get('/api/tows')).status).toBe(401);
    expect(await app.foundation.redis.keys('*:session:*')).toHaveLength(1);
  });

  test('keeps the session of a browser whose sign-in with another key fails', async () => {
    const visitor = await signedIn(app);
    await visitor.post('/sign-in', { key: 'thk_wrong' });
    expect((await visitor.get('/board')).status).toBe(200);
  });

  test('says once that the visitor is signed out', async () => {
    const visitor = await signedIn(app);
    await visitor.post('/sign-out');
    const messages = ['You are signed out.', 'This API key is not valid.'];
    const shown = ({ html }: { html: string }) => messages.filter((message) => html.includes(message));
    expect(shown(await visitor.get('/sign-in'))).toEqual(messages.slice(0, 1));
    expect(shown(await visitor.post('/sign-in', { key: 'thk_wrong' }))).toEqual(messages.slice(1));
    expect(shown(await visitor.get('/sign-in'))).toEqual([]);
  });

  test('ends all sessions of an API key at once, those of its text before a rotation too, and of no other key', async () => {
    const response = await api(app).post('/api/keys').send({ name: 'desk', role: 'dispatcher' });
    const { id, api_key: before } = newApiKeyView.parse(response.body);
    const onTablet = await signedIn(app, before);
    const rotated = await api(app).post(`/api/keys/${id}/rotate`).send({ grace_hours: 24 });
    const { api_key: key } = newApiKeyView.parse(rotated.body);
    const [onDesk, onPhone, other] = [await signedIn(app, key), await signedIn(app, key), await signedIn(app)];

    expect(textOf((await onDesk.get('/shortcuts')).html)).toContain('Sign out everywhere');
    const done = await onDesk.post('/sign-out-everywhere');
    expect([done.status, done.location]).toEqual([303, '/sign-in']);
    for (const visitor of [onTablet, onDesk, onPhone]) expect((await visitor.get('/board')).status).toBe(303);
    expect((await other.get('/board')).status).toBe(200);
    expect((await (await signedIn(app, key)).get('/board')).status).toBe(200);
  });

  test('ends a session that began during a sign-out everywhere at the next one', async () => {
    const { redis, clock } = app.foundation;
    const [store, actor] = [createSessionStore(redis), actorOf('viewer')];
    let writes = 0;
    /** Signs out everywhere after the first write of the sign-in. */
    const interrupted = async (write: Promise<void>) => {
      await write;
      writes += 1;
      if (writes === 1) await store.endAll(actor.id);
    };
    const sessions = createSessions({
      store: {
        ...store,
        begin: (...session) => interrupted(store.begin(...session)),
        list: (...session) => interrupted(store.list(...session)),
      },
      signIn: { holderOf: () => Promise.resolve(actor) },
      clock,
    });
    const console = express().get('/', async (request, response) => {
      await sessions.begin({ request, response }, { actor, keyHash: 'hash of a key' });
      response.end();
    });
    await serving(console, async (url) => expect((await fetch(url)).status).toBe(200));

    await store.endAll(actor.id);
    expect(await redis.keys('*:session:*')).toEqual([]);
  });
});
