import { createServer } from 'node:http';
import { once } from 'node:events';
import { z } from 'zod';
import { apiKeyView, newApiKeyView } from '../../src/contracts/operator';
import { openSignIn } from '../../src/main/operator';
import { hashOf } from '../../src/operator/authenticate';
import { WRONG_KEYS_MAX } from '../../src/operator/guessing';
import type { SignedIn, SignIn } from '../../src/workflow/operator-port';
import { useApp } from '../support/app';
import { call, get, newKey, post } from './client';
import { operatorOn, serving } from './in-process';

const app = useApp({ role: 'console' });

/** Looks at keys one after the other, each as it comes with a request. */
async function looked(signIn: SignIn, keys: readonly string[]): Promise<SignedIn[]> {
  const found: SignedIn[] = [];
  const server = createServer((request, response) => {
    const looking = signIn.check(String(request.headers['x-key']), request).then(
      (one) => found.push(one),
      () => null,
    );
    void looking.finally(() => response.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  for (const key of keys) {
    await (await fetch(`http://127.0.0.1:${address.port}`, { headers: { 'x-key': key } })).text();
  }
  server.closeAllConnections();
  server.close();
  return found;
}

const wrongKeys = (count: number) => Array.from({ length: count }, (_, index) => `thk_wrong-${index}`);

async function idOf(name: string): Promise<string> {
  const { items } = z.object({ items: z.array(apiKeyView) }).parse((await get(app, '/api/keys')).json);
  return items.find((key) => key.name === name)?.id ?? '';
}

async function rotated(name: string, graceHours: number): Promise<string> {
  const answer = await post(app, `/api/keys/${await idOf(name)}/rotate`, { grace_hours: graceHours });
  return newApiKeyView.parse(answer.json).api_key;
}

describe('signing in', () => {
  it('with a key names its holder, and the hash by which they are found again', async () => {
    const signIn = openSignIn(app.foundation);
    const apiKey = await newKey(app, 'dispatcher', 'day desk');
    const actor = { id: await idOf('day desk'), name: 'day desk', role: 'dispatcher' };
    const bootstrap = { id: 'bootstrap', name: 'bootstrap', role: 'ops' };
    expect(await looked(signIn, [apiKey, app.apiKey, 'thk_wrong'])).toEqual([
      { kind: 'held', actor, keyHash: hashOf(apiKey) },
      { kind: 'held', actor: bootstrap, keyHash: hashOf(app.apiKey) },
      { kind: 'wrong' },
    ]);
    expect(await signIn.holderOf(hashOf(apiKey))).toEqual(actor);
    expect(await signIn.holderOf(hashOf(app.apiKey))).toEqual(bootstrap);
  });

  it('is slowed after as many wrong keys as a program may try, and says when to come back', async () => {
    const found = await looked(openSignIn(app.foundation), wrongKeys(WRONG_KEYS_MAX + 1));
    expect(found.slice(0, -1)).toEqual(wrongKeys(WRONG_KEYS_MAX).map(() => ({ kind: 'wrong' })));
    const last = found.at(-1);
    if (last?.kind !== 'slowed') throw new Error(last?.kind);
    expect(last.retryAfterMs).toBeGreaterThan(0);
    expect(last.retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it('and calling the API count as one: whoever guesses there is slowed here, and the other way round', async () => {
    for (const isFirst of [true, false]) {
      const signIn = openSignIn(app.foundation);
      await serving(operatorOn(app.foundation, { signIn }).app, async (consoleUrl) => {
        const callApi = async (apiKey: string) => (await get({ consoleUrl, apiKey }, '/api/tows')).status;
        const guess = async () => {
          if (isFirst) for (const key of wrongKeys(WRONG_KEYS_MAX)) await callApi(key);
          else await looked(signIn, wrongKeys(WRONG_KEYS_MAX));
        };
        await guess();
        expect(await looked(signIn, ['thk_another'])).toMatchObject([{ kind: 'slowed' }]);
        expect(await callApi('thk_another')).toBe(429);
      });
    }
  });

  it('makes nobody a guesser while the store cannot say', async () => {
    const signIn = openSignIn(app.foundation);
    const apiKey = await newKey(app, 'viewer');
    await app.redis.ask('RENAME', '{p0}:api-key-hashes', 'elsewhere');
    await app.redis.ask('SET', '{p0}:api-key-hashes', 'not a hash');
    expect(await looked(signIn, wrongKeys(WRONG_KEYS_MAX + 5))).toEqual([]);
    await expect(signIn.holderOf(hashOf(apiKey))).rejects.toThrow('WRONGTYPE');
    await app.redis.ask('RENAME', 'elsewhere', '{p0}:api-key-hashes');
    expect(await looked(signIn, [apiKey])).toMatchObject([{ kind: 'held' }]);
  });
});

describe('who signed in with a key', () => {
  it('stays its holder through a rotation for as long as the old text is valid, and no longer', async () => {
    const signIn = openSignIn(app.foundation);
    const hash = hashOf(await newKey(app, 'crew', 'truck 7'));
    const next = await rotated('truck 7', 24);
    for (const one of [hash, hashOf(next)]) expect(await signIn.holderOf(one)).toMatchObject({ name: 'truck 7' });
    await rotated('truck 7', 0);
    for (const one of [hash, hashOf(next)]) expect(await signIn.holderOf(one)).toBeNull();
  });

  it('is nobody once it is revoked', async () => {
    const signIn = openSignIn(app.foundation);
    const hash = hashOf(await newKey(app, 'crew', 'truck 8'));
    expect((await call(app, ['DELETE', `/api/keys/${await idOf('truck 8')}`])).status).toBe(204);
    expect(await signIn.holderOf(hash)).toBeNull();
  });

  it('is nobody where the hash is none', async () => {
    const signIn = openSignIn(app.foundation);
    for (const hash of ['', 'x', hashOf('nothing'), 'x'.repeat(64)]) expect(await signIn.holderOf(hash)).toBeNull();
  });
});
