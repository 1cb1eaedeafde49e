import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { apiKeyView, newApiKeyView } from '../../src/contracts/operator';
import type { Role } from '../../src/domain/vocabulary';
import { KEYS } from '../../src/store/keys';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { api, entriesOf, errorOf, fieldsOf } from './client';

const app = useApp({ role: 'console', ownRedis: true });

/** A process estimates the time of Redis between two commands. */
const REDIS_CLOCK_ERROR_MS = 1000;
const HOUR_MS = 3_600_000;
/** A grace period of one second, in hours. */
const ONE_SECOND = 1 / 3600;

async function made(key: { name: string; role: Role } = { name: 'yard', role: 'viewer' }) {
  const response = await api(app).post('/api/keys').send(key);
  return newApiKeyView.parse(response.body);
}

async function rotated(id: string, graceHours?: number) {
  const grace = graceHours === undefined ? {} : { grace_hours: graceHours };
  const response = await api(app).post(`/api/keys/${id}/rotate`).send(grace).expect(202);
  return newApiKeyView.parse(response.body);
}

async function listed() {
  const response = await api(app).get('/api/keys');
  const { items } = z.object({ items: z.array(apiKeyView) }).parse(response.body);
  return items[0];
}

async function statusesWith(...apiKeys: readonly string[]): Promise<number[]> {
  return Promise.all(apiKeys.map(async (apiKey) => (await api(app, apiKey).get('/api/tows')).status));
}

describe('operator API: rotated keys', () => {
  it('a rotated key has a new secret, shown once, keeps its id, name and role, and both secrets are valid for the grace period', async () => {
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
  ])('a rotation with grace_hours %s keeps the old secret valid for %i hours', async (given, hours) => {
    const { id } = await made();
    const earliestMs = Date.now() - REDIS_CLOCK_ERROR_MS;
    const { previous_valid_until: until } = await rotated(id, given);
    expect(Date.parse(until ?? '')).toBeGreaterThanOrEqual(earliestMs + hours * HOUR_MS);
    expect(Date.parse(until ?? '')).toBeLessThanOrEqual(Date.now() + REDIS_CLOCK_ERROR_MS + hours * HOUR_MS);
  });

  it('rejects the old secret of a rotated key after the grace period and no longer lists its end', async () => {
    const key = await made();
    const fresh = await rotated(key.id, ONE_SECOND);
    expect(await statusesWith(key.api_key)).toEqual([200]);
    await eventually(async () => expect(await statusesWith(key.api_key)).toEqual([401]));
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(fresh.previous_valid_until ?? ''));
    expect(await statusesWith(fresh.api_key)).toEqual([200]);
    expect((await listed())?.previous_valid_until).toBeNull();
  });

  it('a rotation without a grace period rejects the old secret at once', async () => {
    const key = await made();
    const fresh = await rotated(key.id, 0);
    expect(fresh.previous_valid_until).toBeNull();
    expect(await statusesWith(key.api_key, fresh.api_key)).toEqual([401, 200]);
  });

  it('a second rotation rejects the oldest secret at once', async () => {
    const key = await made();
    const [second, third] = [await rotated(key.id), await rotated(key.id)];
    expect(await statusesWith(key.api_key, second.api_key, third.api_key)).toEqual([401, 200, 200]);
    expect(await app.redis.ask('HLEN', KEYS.apiKeyHashes)).toBe(2);
  });

  it('revoking a rotated key rejects both secrets and removes every record of the key', async () => {
    const key = await made();
    const fresh = await rotated(key.id);
    await api(app).delete(`/api/keys/${key.id}`).expect(204);
    expect(await statusesWith(key.api_key, fresh.api_key)).toEqual([401, 401]);
    for (const name of [KEYS.apiKeys, KEYS.apiKeyHashes]) expect(await app.redis.ask('EXISTS', name)).toBe(0);
  });

  it('audits both secrets of a rotated key under the same key id', async () => {
    const key = await made({ name: 'night', role: 'ops' });
    const fresh = await rotated(key.id);
    const entries = await entriesOf(app, async () => {
      for (const { api_key } of [key, fresh]) await api(app, api_key).post('/api/queues/reports/pause').send({});
    });
    expect(entries).toMatchObject([
      { by: 'night', by_id: key.id },
      { by: 'night', by_id: key.id },
    ]);
  });
});

describe('operator API: key rotation', () => {
  it('a rotation repeated with the same Idempotency-Key happens once and shows the secret once', async () => {
    const key = await made();
    const rotateOnce = () =>
      api(app).post(`/api/keys/${key.id}/rotate`).set('idempotency-key', 'once').send({ grace_hours: 1 });
    const first = await rotateOnce();
    const again = await rotateOnce().expect(202);
    const { api_key, ...view } = newApiKeyView.parse(first.body);
    expect(again.body).toEqual(view);
    expect(first.get('cache-control')).toBe('no-store');
    expect(await statusesWith(key.api_key, api_key)).toEqual([200, 200]);
  });

  it('concurrent rotations leave exactly the newest and the previous secret valid', async () => {
    const key = await made();
    const fresh = await Promise.all([1, 2, 3, 4].map(() => rotated(key.id)));
    const statuses = await statusesWith(key.api_key, ...fresh.map(({ api_key }) => api_key));
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
  });

  it('audits a rotation with the key id and the grace period', async () => {
    const key = await made();
    const entries = await entriesOf(app, () => rotated(key.id, 1));
    const by = { by: 'bootstrap', by_id: 'bootstrap', role: 'ops' };
    expect(entries).toEqual([
      { ...by, action: 'key.rotated', on: { key_id: key.id }, why: null, what: { grace_hours: 1 } },
    ]);
  });

  it('a rotation writes neither the old nor the new secret to disk', async () => {
    const key = await made();
    const fresh = await rotated(key.id);
    const folder = join(app.redis.folder, 'appendonlydir');
    const texts = await Promise.all((await readdir(folder)).map((file) => readFile(join(folder, file), 'latin1')));
    expect(texts.join('')).toContain(key.id);
    for (const { api_key } of [key, fresh]) expect(texts.join('')).not.toContain(api_key.slice('thk_'.length));
  });

  it('refuses to rotate an unknown key with 404', async () => {
    const response = await api(app).post('/api/keys/unknown/rotate').send({}).expect(404);
    expect(errorOf(response).code).toBe('key_not_found');
  });

  it.each([-1, 721, '24', null])('refuses a rotation with grace_hours %j with 422', async (graceHours) => {
    const { id } = await made();
    const response = await api(app).post(`/api/keys/${id}/rotate`).send({ grace_hours: graceHours }).expect(422);
    expect(fieldsOf(response)).toEqual(['grace_hours']);
  });
});
