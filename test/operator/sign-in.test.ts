import { createServer } from 'node:http';
import { once } from 'node:events';
import request from 'supertest';
import { z } from 'zod';
import { apiKeyView, newApiKeyView } from '../../src/contracts/operator';
import { openSignIn } from '../../src/main/console';
import { keyHashOf } from '../../src/operator/authenticate';
import { WRONG_KEYS_MAX } from '../../src/store/person/source-limits';
import type { KeyCheck, SignIn } from '../../src/workflow/operator-port';
import { useApp } from '../support/app';
import { api, newKey } from './client';

const app = useApp({ role: 'console' });

/** Checks keys one after the other, each with an HTTP request of its own; returns the results of the checks that succeed. */
async function checked(signIn: SignIn, keys: readonly string[]): Promise<KeyCheck[]> {
  const found: KeyCheck[] = [];
  const server = createServer((incoming, response) => {
    const checking = signIn.check(String(incoming.headers['x-key']), incoming.socket.remoteAddress).then(
      (one) => found.push(one),
      () => null,
    );
    void checking.finally(() => response.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  for (const key of keys) await request(server).get('/').set('x-key', key).expect(200);
  server.closeAllConnections();
  server.close();
  return found;
}

const wrongKeys = (count: number) => Array.from({ length: count }, (_, index) => `thk_wrong-${index}`);

async function idOf(name: string): Promise<string> {
  const response = await api(app).get('/api/keys');
  const { items } = z.object({ items: z.array(apiKeyView) }).parse(response.body);
  return items.find((key) => key.name === name)?.id ?? '';
}

async function rotated(name: string, graceHours: number): Promise<string> {
  const path = `/api/keys/${await idOf(name)}/rotate`;
  const response = await api(app).post(path).send({ grace_hours: graceHours });
  return newApiKeyView.parse(response.body).api_key;
}

describe('operator sign-in', () => {
  it('signing in with a key returns its holder and the hash that finds the holder again', async () => {
    const signIn = openSignIn(app.foundation);
    const apiKey = await newKey(app, 'dispatcher', 'day desk');
    const actor = { id: await idOf('day desk'), name: 'day desk', role: 'dispatcher' };
    const bootstrap = { id: 'bootstrap', name: 'bootstrap', role: 'ops' };
    expect(await checked(signIn, [apiKey, app.apiKey, 'thk_wrong'])).toEqual([
      { kind: 'valid', actor, keyHash: keyHashOf(apiKey) },
      { kind: 'valid', actor: bootstrap, keyHash: keyHashOf(app.apiKey) },
      { kind: 'wrong' },
    ]);
    expect(await signIn.holderOf(keyHashOf(apiKey))).toEqual(actor);
    expect(await signIn.holderOf(keyHashOf(app.apiKey))).toEqual(bootstrap);
  });

  it('limits sign-ins after WRONG_KEYS_MAX wrong keys and gives the time to wait', async () => {
    const found = await checked(openSignIn(app.foundation), wrongKeys(WRONG_KEYS_MAX + 1));
    expect(found.slice(0, -1)).toEqual(wrongKeys(WRONG_KEYS_MAX).map(() => ({ kind: 'wrong' })));
    const last = found.at(-1);
    if (last?.kind !== 'rate_limited') throw new Error(last?.kind);
    expect(last.retryAfterMs).toBeGreaterThan(0);
    expect(last.retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it('does not count failed sign-ins as wrong keys while the key store fails', async () => {
    const signIn = openSignIn(app.foundation);
    const apiKey = await newKey(app, 'viewer');
    await app.redis.ask('RENAME', '{towhook-main}:api-key-hashes', 'elsewhere');
    await app.redis.ask('SET', '{towhook-main}:api-key-hashes', 'not a hash');
    expect(await checked(signIn, wrongKeys(WRONG_KEYS_MAX + 5))).toEqual([]);
    await expect(signIn.holderOf(keyHashOf(apiKey))).rejects.toThrow('WRONGTYPE');
    await app.redis.ask('RENAME', 'elsewhere', '{towhook-main}:api-key-hashes');
    expect(await checked(signIn, [apiKey])).toMatchObject([{ kind: 'valid' }]);
  });
});

describe('holders of signed-in keys', () => {
  it('a signed-in holder is found through a rotation until the old secret expires', async () => {
    const signIn = openSignIn(app.foundation);
    const hash = keyHashOf(await newKey(app, 'crew', 'truck 7'));
    const next = await rotated('truck 7', 24);
    for (const one of [hash, keyHashOf(next)]) expect(await signIn.holderOf(one)).toMatchObject({ name: 'truck 7' });
    await rotated('truck 7', 0);
    for (const one of [hash, keyHashOf(next)]) expect(await signIn.holderOf(one)).toBeNull();
  });

  it('finds no signed-in holder once the key is revoked', async () => {
    const signIn = openSignIn(app.foundation);
    const hash = keyHashOf(await newKey(app, 'crew', 'truck 8'));
    await api(app)
      .delete(`/api/keys/${await idOf('truck 8')}`)
      .expect(204);
    expect(await signIn.holderOf(hash)).toBeNull();
  });

  it('finds no signed-in holder for a malformed or unknown hash', async () => {
    const signIn = openSignIn(app.foundation);
    for (const hash of ['', 'x', keyHashOf('nothing'), 'x'.repeat(64)]) expect(await signIn.holderOf(hash)).toBeNull();
  });
});
