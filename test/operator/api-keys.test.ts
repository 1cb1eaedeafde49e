import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { apiKeyView, newApiKeyView } from '../../src/contracts/operator';
import type { Role } from '../../src/domain/vocabulary';
import { useApp } from '../support/app';
import { api, audited, errorOf, fieldsOf } from './client';

const app = useApp({ role: 'console', ownRedis: true });

async function listed() {
  return z.object({ items: z.array(z.strictObject(apiKeyView.shape)) }).parse((await api(app).get('/api/keys')).body)
    .items;
}

/** Creates a key and returns it with its text. */
async function made(name = 'yard', role: Role = 'crew') {
  const response = await api(app).post('/api/keys').send({ name, role });
  if (response.status !== 201) throw new Error(`answered ${response.status}: ${response.text}`);
  return newApiKeyView.parse(response.body);
}

/** Everything that Redis was asked to store: its append-only file holds each write in plain text. */
async function everythingWritten(): Promise<string> {
  const folder = join(app.redis.folder, 'appendonlydir');
  const files = await readdir(folder);
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'latin1')));
  return texts.join('\n');
}

async function statusWith(apiKey: string): Promise<number> {
  return (await api(app, apiKey).get('/api/tows')).status;
}

const revoke = (id: string) => api(app).delete(`/api/keys/${id}`);

describe('operator API: new API keys', () => {
  it('returns the text of a new API key once, accepts the key immediately and lists it without its text', async () => {
    const response = await api(app).post('/api/keys').send({ name: ' yard gate ', role: 'crew' });
    expect(response.status).toBe(201);
    const { api_key, ...view } = newApiKeyView.parse(response.body);
    expect(view).toMatchObject({ name: 'yard gate', role: 'crew', previous_valid_until: null });
    expect(api_key.length).toBeGreaterThan(40);
    expect(await statusWith(api_key)).toBe(200);
    expect(await listed()).toEqual([view]);
  });

  it('marks the response with a new API key as not to be stored by caches', async () => {
    const response = await api(app).post('/api/keys').send({ name: 'yard', role: 'crew' });
    expect(response.get('cache-control')).toBe('no-store');
  });

  it('gives each new API key its own text and id', async () => {
    const [first, second] = [await made('yard'), await made('gate')];
    expect(first.api_key).not.toBe(second.api_key);
    expect((await listed()).map(({ id }) => id)).toEqual([first.id, second.id]);
  });

  it('never stores the text of an API key, with or without an Idempotency-Key', async () => {
    const keys: string[] = [];
    for (const [name, headers] of [
      ['a-name-to-find', {}],
      ['another name', { 'idempotency-key': 'once' }],
    ] as const) {
      const response = await api(app).post('/api/keys').set(headers).send({ name, role: 'ops' });
      keys.push(newApiKeyView.parse(response.body).api_key);
    }
    const written = await everythingWritten();
    expect(written).toContain('a-name-to-find');
    for (const key of keys) expect(written).not.toContain(key.slice('thk_'.length));
  });

  it('leaves the key text out of the response when a key creation is repeated under its Idempotency-Key', async () => {
    const body = { name: 'yard', role: 'crew' };
    const first = await api(app).post('/api/keys').set('idempotency-key', 'once').send(body);
    const again = await api(app).post('/api/keys').set('idempotency-key', 'once').send(body);
    const { api_key, ...view } = newApiKeyView.parse(first.body);
    expect([again.status, again.body]).toEqual([201, view]);
    expect(again.text).not.toContain(api_key);
    expect(await listed()).toHaveLength(1);
  });

  it.each([
    [{}, 'name role'],
    [{ name: '', role: 'boss' }, 'name role'],
    [{ name: 'yard', role: 'crew', api_key: 'my own' }, 'api_key'],
    [{ name: 'yard\u0000gate', role: 'crew' }, 'name'],
    [{ name: 'yard\r\ngate', role: 'crew' }, 'name'],
    [{ name: 'yard\u001b[2Jgate', role: 'crew' }, 'name'],
    [{ name: 'yard\u0085gate', role: 'crew' }, 'name'],
  ])('refuses to create an API key from %j with 422 and names the invalid fields', async (body, fields) => {
    const response = await api(app).post('/api/keys').send(body);
    expect([response.status, fieldsOf(response).join(' ')]).toEqual([422, fields]);
    expect(await listed()).toEqual([]);
  });
});

describe('operator API: names of API keys', () => {
  it.each(['yard', ' yard '])(
    'refuses a second API key with the name of an existing one with 409: %j',
    async (name) => {
      await made(name);
      const response = await api(app).post('/api/keys').send({ name: name.trim(), role: 'viewer' });
      expect([response.status, errorOf(response).code]).toEqual([409, 'key_name_taken']);
      expect(await listed()).toHaveLength(1);
    },
  );

  it('creates one API key when five concurrent requests ask for the same name', async () => {
    const responses = await Promise.all(
      [1, 2, 3, 4, 5].map(() => api(app).post('/api/keys').send({ name: 'yard', role: 'crew' })),
    );
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409, 409]);
    expect(await listed()).toHaveLength(1);
  });

  it('frees the name of a revoked API key, and the audit tells the old and the new key apart by id', async () => {
    const first = await made('yard', 'ops');
    const act = (apiKey: string) => api(app, apiKey).post('/api/queues/reports/pause').send({});
    await act(first.api_key).expect(202);
    await revoke(first.id);
    const second = await made('yard', 'ops');
    await act(second.api_key).expect(202);
    const paused = (await audited(app)).items.filter(({ action }) => action === 'queue.paused');
    expect(paused).toMatchObject([
      { by: 'yard', by_id: second.id },
      { by: 'yard', by_id: first.id },
    ]);
  });

  it('refuses the name of the configured API key with 409', async () => {
    const response = await api(app).post('/api/keys').send({ name: 'bootstrap', role: 'crew' });
    expect([response.status, errorOf(response).code]).toEqual([409, 'key_name_taken']);
  });
});

describe('operator API: API keys in the audit', () => {
  it('records the id of the API key that acted, also for the configured key', async () => {
    const { id, api_key } = await made('night shift', 'ops');
    await api(app, api_key).post('/api/keys').send({ name: 'yard', role: 'crew' });
    expect((await audited(app)).items).toMatchObject([
      { action: 'key.created', by: 'night shift', by_id: id },
      { action: 'key.created', by: 'bootstrap', by_id: 'bootstrap', on: { key_id: id } },
    ]);
  });
});

describe('operator API: revoked API keys', () => {
  it('rejects a revoked API key immediately and keeps the other keys valid', async () => {
    const [mine, other] = [await made('mine', 'viewer'), await made('other', 'viewer')];
    // The process has just accepted the key: a cached result must not keep it valid.
    expect(await statusWith(mine.api_key)).toBe(200);
    const response = await revoke(mine.id);
    expect([response.status, response.text]).toEqual([204, '']);
    expect([await statusWith(mine.api_key), await statusWith(other.api_key)]).toEqual([401, 200]);
    expect((await listed()).map(({ name }) => name)).toEqual(['other']);
  });

  it('refuses to revoke an API key a second time with 404', async () => {
    const { id } = await made();
    await revoke(id);
    const again = await revoke(id);
    expect([again.status, errorOf(again).code]).toEqual([404, 'key_not_found']);
  });

  it('revokes an API key under an Idempotency-Key though the body, which the route does not read, is an array', async () => {
    const { id } = await made();
    const response = await revoke(id).set('idempotency-key', 'once').send([1]);
    expect([response.status, response.text]).toEqual([204, '']);
    expect(await listed()).toEqual([]);
  });

  it('refuses to revoke or rotate the configured API key, which stays valid when all others are revoked', async () => {
    const ops = [await made('one', 'ops'), await made('two', 'ops')];
    for (const { id } of ops) await revoke(id);
    for (const response of [
      await api(app).delete('/api/keys/bootstrap'),
      await api(app).post('/api/keys/bootstrap/rotate'),
    ]) {
      expect([response.status, errorOf(response).code]).toEqual([404, 'key_not_found']);
    }
    expect(await listed()).toEqual([]);
    expect((await made('three', 'ops')).role).toBe('ops');
  });
});
