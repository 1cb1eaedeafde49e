import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { apiKeyView, newApiKeyView } from '../../src/contracts/operator';
import type { Role } from '../../src/domain/vocabulary';
import { KEYS } from '../../src/store/keys';
import { useApp } from '../support/app';
import { audited } from './audited';
import { call, errorOf, fieldsOf, get, post } from './client';

const app = useApp({ role: 'console' });

async function listed() {
  return z.object({ items: z.array(z.strictObject(apiKeyView.shape)) }).parse((await get(app, '/api/keys')).json).items;
}

/** Makes a key and returns it with its text. */
async function made(name = 'yard', role: Role = 'crew') {
  const answer = await post(app, '/api/keys', { name, role });
  if (answer.status !== 201) throw new Error(`answered ${answer.status}: ${answer.text}`);
  return newApiKeyView.parse(answer.json);
}

/** Everything the server was ever told to keep: its append-only file holds each write in plain text. */
async function everythingWritten(): Promise<string> {
  const folder = join(app.redis.folder, 'appendonlydir');
  const files = await readdir(folder);
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'latin1')));
  return texts.join('\n');
}

async function statusWith(apiKey: string): Promise<number> {
  return (await get(app, '/api/tows', { apiKey })).status;
}

const revoke = (id: string) => call(app, ['DELETE', `/api/keys/${id}`]);

describe('a new key', () => {
  it('is shown once, works at once, and is listed without itself', async () => {
    const answer = await post(app, '/api/keys', { name: ' yard gate ', role: 'crew' });
    expect(answer.status).toBe(201);
    const { api_key, ...view } = newApiKeyView.parse(answer.json);
    expect(view).toMatchObject({ name: 'yard gate', role: 'crew', previous_valid_until: null });
    expect(api_key.length).toBeGreaterThan(40);
    expect(await statusWith(api_key)).toBe(200);
    expect(await listed()).toEqual([view]);
  });

  it('is shown to nobody who keeps copies', async () => {
    const answer = await post(app, '/api/keys', { name: 'yard', role: 'crew' });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('is another one each time', async () => {
    const [first, second] = [await made('yard'), await made('gate')];
    expect(first.api_key).not.toBe(second.api_key);
    expect((await listed()).map(({ id }) => id)).toEqual([first.id, second.id]);
  });

  it('is never stored, with an Idempotency-Key or without', async () => {
    const keys: string[] = [];
    for (const [name, options] of [
      ['a-name-to-find', {}],
      ['another name', { idempotencyKey: 'once' }],
    ] as const) {
      const answer = await post(app, '/api/keys', { name, role: 'ops' }, options);
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
    [{ name: 'yard\u0000gate', role: 'crew' }, 'name'],
    [{ name: 'yard\r\ngate', role: 'crew' }, 'name'],
    [{ name: 'yard\u001b[2Jgate', role: 'crew' }, 'name'],
    [{ name: 'yard\u0085gate', role: 'crew' }, 'name'],
  ])('is refused 422 from %j', async (body, fields) => {
    const answer = await post(app, '/api/keys', body);
    expect([answer.status, fieldsOf(answer).join(' ')]).toEqual([422, fields]);
    expect(await listed()).toEqual([]);
  });
});

describe('a name', () => {
  it.each(['yard', ' yard ', 'yard\ud83d'])('is refused 409 while a key has it: %j', async (name) => {
    await made(name);
    const answer = await post(app, '/api/keys', { name: name.trim(), role: 'viewer' });
    expect([answer.status, errorOf(answer).code]).toEqual([409, 'key_name_taken']);
    expect(await listed()).toHaveLength(1);
  });

  it('goes to one of many who ask for it at once', async () => {
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map(() => post(app, '/api/keys', { name: 'yard', role: 'crew' })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409, 409]);
    expect(await listed()).toHaveLength(1);
  });

  it('is free again once its key is revoked; the audit tells the two keys apart by their ids', async () => {
    const first = await made('yard', 'ops');
    const act = (apiKey: string) => post(app, '/api/queues/reports/pause', {}, { apiKey });
    expect((await act(first.api_key)).status).toBe(202);
    await revoke(first.id);
    const second = await made('yard', 'ops');
    expect((await act(second.api_key)).status).toBe(202);
    const paused = (await audited(app)).items.filter(({ action }) => action === 'queue.paused');
    expect(paused).toMatchObject([
      { by: 'yard', by_id: second.id },
      { by: 'yard', by_id: first.id },
    ]);
  });

  it('of the configured key is nobody else’s', async () => {
    const answer = await post(app, '/api/keys', { name: 'bootstrap', role: 'crew' });
    expect([answer.status, errorOf(answer).code]).toEqual([409, 'key_name_taken']);
  });
});

describe('the audit', () => {
  it('says which key did what, the configured one by its own id', async () => {
    const { id, api_key } = await made('night shift', 'ops');
    await post(app, '/api/keys', { name: 'yard', role: 'crew' }, { apiKey: api_key });
    expect((await audited(app)).items).toMatchObject([
      { action: 'key.created', by: 'night shift', by_id: id },
      { action: 'key.created', by: 'bootstrap', by_id: 'bootstrap', on: { key_id: id } },
    ]);
  });

  it('shows entries of versions that did not keep the id', async () => {
    const entry = { action: 'tow.started', by: 'yard', role: 'crew', on: {}, why: null, what: {} };
    await app.redis.ask('RPUSH', KEYS.audit, `1 1773144000000 ${'0'.repeat(40)} ${JSON.stringify(entry)}`);
    expect((await audited(app)).items).toMatchObject([{ by: 'yard', by_id: '' }]);
  });
});

describe('a revoked key', () => {
  it('ends at once and alone', async () => {
    const [mine, other] = [await made('mine', 'viewer'), await made('other', 'viewer')];
    // Seen as valid a moment ago, it ends all the same.
    expect(await statusWith(mine.api_key)).toBe(200);
    const answer = await revoke(mine.id);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect([await statusWith(mine.api_key), await statusWith(other.api_key)]).toEqual([401, 200]);
    expect((await listed()).map(({ name }) => name)).toEqual(['other']);
  });

  it('cannot be revoked again: 404', async () => {
    const { id } = await made();
    await revoke(id);
    const again = await revoke(id);
    expect([again.status, errorOf(again).code]).toEqual([404, 'key_not_found']);
  });

  it('is never the configured one: it stays a way in when all others are gone', async () => {
    const ops = [await made('one', 'ops'), await made('two', 'ops')];
    for (const { id } of ops) await revoke(id);
    for (const [method, path] of [
      ['DELETE', '/api/keys/bootstrap'],
      ['POST', '/api/keys/bootstrap/rotate'],
    ] as const) {
      const answer = await call(app, [method, path]);
      expect([answer.status, errorOf(answer).code]).toEqual([404, 'key_not_found']);
    }
    expect(await listed()).toEqual([]);
    expect((await made('three', 'ops')).role).toBe('ops');
  });
});
