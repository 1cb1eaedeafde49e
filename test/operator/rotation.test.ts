import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { apiKeyView, newApiKeyView } from '../../src/contracts/operator';
import { KEYS } from '../../src/store/keys';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { entriesOf } from './audited';
import { call, errorOf, fieldsOf, get, post } from './client';

const app = useApp({ role: 'console' });

const HOUR_MS = 3_600_000;
/** Long enough for a call, short enough to be waited for. */
const A_SECOND = 1 / 3600;

async function made() {
  return newApiKeyView.parse((await post(app, '/api/keys', { name: 'yard', role: 'viewer' })).json);
}

async function rotated(id: string, graceHours?: number) {
  const body = graceHours === undefined ? {} : { grace_hours: graceHours };
  const answer = await post(app, `/api/keys/${id}/rotate`, body);
  if (answer.status !== 202) throw new Error(`answered ${answer.status}: ${answer.text}`);
  return newApiKeyView.parse(answer.json);
}

async function listed() {
  const { items } = z.object({ items: z.array(apiKeyView) }).parse((await get(app, '/api/keys')).json);
  return items[0];
}

async function statusesWith(...apiKeys: readonly string[]): Promise<number[]> {
  return Promise.all(apiKeys.map(async (apiKey) => (await get(app, '/api/tows', { apiKey })).status));
}

describe('a rotated key', () => {
  it('has a new text, shown once, and keeps its id, name and role; both texts are valid meanwhile', async () => {
    const key = await made();
    const fresh = await rotated(key.id);
    expect(fresh).toMatchObject({ id: key.id, name: 'yard', role: 'viewer', created_at: key.created_at });
    expect(fresh.api_key).not.toBe(key.api_key);
    expect(await statusesWith(key.api_key, fresh.api_key)).toEqual([200, 200]);
    const { api_key: _secret, ...view } = fresh;
    expect(await listed()).toEqual(view);
  });

  it.each([
    [undefined, 24],
    [2, 2],
    [720, 720],
  ])('with grace_hours %s keeps the old text for %i hours', async (given, hours) => {
    const { previous_valid_until: until } = await rotated((await made()).id, given);
    expect(Math.abs(Date.parse(until ?? '') - Date.now() - hours * HOUR_MS)).toBeLessThan(10_000);
  });

  it('ends its old text when the grace is over, and stops showing it', async () => {
    const key = await made();
    const fresh = await rotated(key.id, A_SECOND);
    expect(await statusesWith(key.api_key)).toEqual([200]);
    await eventually(async () => expect(await statusesWith(key.api_key)).toEqual([401]));
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(fresh.previous_valid_until ?? ''));
    expect(await statusesWith(fresh.api_key)).toEqual([200]);
    expect((await listed())?.previous_valid_until).toBeNull();
  });

  it('without a grace ends its old text at once', async () => {
    const key = await made();
    const fresh = await rotated(key.id, 0);
    expect(fresh.previous_valid_until).toBeNull();
    expect(await statusesWith(key.api_key, fresh.api_key)).toEqual([401, 200]);
  });

  it('rotated again ends the oldest text at once', async () => {
    const key = await made();
    const [second, third] = [await rotated(key.id), await rotated(key.id)];
    expect(await statusesWith(key.api_key, second.api_key, third.api_key)).toEqual([401, 200, 200]);
    expect(await app.redis.ask('HLEN', KEYS.apiKeyHashes)).toBe(2);
  });

  it('when revoked ends with both texts, and nothing of it stays', async () => {
    const key = await made();
    const fresh = await rotated(key.id);
    expect((await call(app, ['DELETE', `/api/keys/${key.id}`])).status).toBe(204);
    expect(await statusesWith(key.api_key, fresh.api_key)).toEqual([401, 401]);
    for (const name of [KEYS.apiKeys, KEYS.apiKeyHashes]) expect(await app.redis.ask('EXISTS', name)).toBe(0);
  });

  it('acts under the same id with either text', async () => {
    const key = newApiKeyView.parse((await post(app, '/api/keys', { name: 'night', role: 'ops' })).json);
    const fresh = await rotated(key.id);
    const entries = await entriesOf(app, async () => {
      for (const { api_key: apiKey } of [key, fresh]) await post(app, '/api/queues/reports/pause', {}, { apiKey });
    });
    expect(entries).toMatchObject([
      { by: 'night', by_id: key.id },
      { by: 'night', by_id: key.id },
    ]);
  });

  it('of a version that knew no rotation is rotated like any other', async () => {
    const key = await made();
    const stored: unknown = JSON.parse(String(await app.redis.ask('HGET', KEYS.apiKeys, key.id)));
    const { previous: _previous, ...older } = z.record(z.string(), z.unknown()).parse(stored);
    await app.redis.ask('HSET', KEYS.apiKeys, key.id, JSON.stringify(older));
    expect(await statusesWith(key.api_key)).toEqual([200]);
    const fresh = await rotated(key.id);
    expect(await statusesWith(key.api_key, fresh.api_key)).toEqual([200, 200]);
  });
});

describe('a rotation', () => {
  it('under an Idempotency-Key happens once, and shows the text once', async () => {
    const key = await made();
    const path = `/api/keys/${key.id}/rotate`;
    const first = await post(app, path, { grace_hours: 1 }, { idempotencyKey: 'once' });
    const again = await post(app, path, { grace_hours: 1 }, { idempotencyKey: 'once' });
    const { api_key, ...view } = newApiKeyView.parse(first.json);
    expect([again.status, again.json]).toEqual([202, view]);
    expect(first.headers.get('cache-control')).toBe('no-store');
    expect(await statusesWith(key.api_key, api_key)).toEqual([200, 200]);
  });

  it('many at once leave one new text and the one before it valid', async () => {
    const key = await made();
    const fresh = await Promise.all([1, 2, 3, 4].map(() => rotated(key.id)));
    const statuses = await statusesWith(key.api_key, ...fresh.map(({ api_key }) => api_key));
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
  });

  it('is audited with the key and the grace', async () => {
    const key = await made();
    const entries = await entriesOf(app, () => rotated(key.id, 1));
    const by = { by: 'bootstrap', by_id: 'bootstrap', role: 'ops' };
    expect(entries).toEqual([
      { ...by, action: 'key.rotated', on: { key_id: key.id }, why: null, what: { grace_hours: 1 } },
    ]);
  });

  it('stores neither text', async () => {
    const key = await made();
    const fresh = await rotated(key.id);
    const folder = join(app.redis.folder, 'appendonlydir');
    const texts = await Promise.all((await readdir(folder)).map((file) => readFile(join(folder, file), 'latin1')));
    expect(texts.join('')).toContain(key.id);
    for (const { api_key } of [key, fresh]) expect(texts.join('')).not.toContain(api_key.slice('thk_'.length));
  });

  it('of a key that is none is 404', async () => {
    const answer = await post(app, '/api/keys/unknown/rotate');
    expect([answer.status, errorOf(answer).code]).toEqual([404, 'key_not_found']);
  });

  it.each([-1, 721, '24', null])('with grace_hours %j is refused 422', async (graceHours) => {
    const answer = await post(app, `/api/keys/${(await made()).id}/rotate`, { grace_hours: graceHours });
    expect([answer.status, fieldsOf(answer)]).toEqual([422, ['grace_hours']]);
  });
});
