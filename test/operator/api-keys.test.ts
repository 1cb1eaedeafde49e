import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { apiKeyView, newApiKeyView } from '../../src/contracts/operator';
import { useApp } from '../support/app';
import { call, errorOf, fieldsOf, get, post } from './client';

const app = useApp({ role: 'console' });

async function listed() {
  return z.object({ items: z.array(z.strictObject(apiKeyView.shape)) }).parse((await get(app, '/api/keys')).json).items;
}

/** Everything the server was ever told to keep: its append-only file holds each write in plain text. */
async function everythingWritten(): Promise<string> {
  const folder = join(app.redis.folder, 'appendonlydir');
  const files = await readdir(folder);
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'latin1')));
  return texts.join('\n');
}

describe('a new key', () => {
  it('is shown once, works at once, and is listed without itself', async () => {
    const answer = await post(app, '/api/keys', { name: ' yard gate ', role: 'crew' });
    expect(answer.status).toBe(201);
    const { api_key, ...view } = newApiKeyView.parse(answer.json);
    expect(view).toMatchObject({ name: 'yard gate', role: 'crew' });
    expect(api_key.length).toBeGreaterThan(40);
    expect((await get(app, '/api/tows', { apiKey: api_key })).status).toBe(200);
    expect(await listed()).toEqual([view]);
  });

  it('is another one each time, also under one name', async () => {
    const answers = [
      await post(app, '/api/keys', { name: 'yard', role: 'crew' }),
      await post(app, '/api/keys', { name: 'yard', role: 'crew' }),
    ];
    const [first, second] = answers.map(({ json }) => newApiKeyView.parse(json));
    expect(first?.api_key).not.toBe(second?.api_key);
    expect((await listed()).map(({ id }) => id)).toEqual([first?.id, second?.id]);
  });

  it('is never stored, with an Idempotency-Key or without', async () => {
    const keys: string[] = [];
    for (const options of [{}, { idempotencyKey: 'once' }]) {
      const answer = await post(app, '/api/keys', { name: 'a-name-to-find', role: 'ops' }, options);
      keys.push(newApiKeyView.parse(answer.json).api_key);
    }
    const written = await everythingWritten();
    expect(written).toContain('a-name-to-find');
    for (const key of keys) expect(written).not.toContain(key.slice('thk_'.length));
  });

  it('is left out of the answer when that is given again under its Idempotency-Key', async () => {
    const body = { name: 'yard', role: 'crew' };
    const first = await post(app, '/api/keys', body, { idempotencyKey: 'once' });
    const again = await post(app, '/api/keys', body, { idempotencyKey: 'once' });
    const { api_key, ...view } = newApiKeyView.parse(first.json);
    expect([again.status, again.json]).toEqual([201, view]);
    expect(again.text).not.toContain(api_key);
    expect(await listed()).toHaveLength(1);
  });

  it.each([
    [{}, 'name role'],
    [{ name: '', role: 'boss' }, 'name role'],
    [{ name: 'yard', role: 'crew', api_key: 'my own' }, 'api_key'],
  ])('is refused 422 from %j', async (body, fields) => {
    const answer = await post(app, '/api/keys', body);
    expect([answer.status, fieldsOf(answer).join(' ')]).toEqual([422, fields]);
    expect(await listed()).toEqual([]);
  });
});

describe('a revoked key', () => {
  it('ends at once and alone', async () => {
    const [mine, other] = await Promise.all(
      ['mine', 'other'].map(async (name) =>
        newApiKeyView.parse((await post(app, '/api/keys', { name, role: 'viewer' })).json),
      ),
    );
    const answer = await call(app, ['DELETE', `/api/keys/${mine?.id}`]);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect((await get(app, '/api/tows', { apiKey: mine?.api_key ?? '' })).status).toBe(401);
    expect((await get(app, '/api/tows', { apiKey: other?.api_key ?? '' })).status).toBe(200);
    expect((await listed()).map(({ name }) => name)).toEqual(['other']);
  });

  it('cannot be revoked again: 404', async () => {
    const { id } = newApiKeyView.parse((await post(app, '/api/keys', { name: 'x', role: 'crew' })).json);
    await call(app, ['DELETE', `/api/keys/${id}`]);
    const again = await call(app, ['DELETE', `/api/keys/${id}`]);
    expect([again.status, errorOf(again).code]).toEqual([404, 'key_not_found']);
  });
});
