import { storedObject } from '../../src/domain/stored';
import { createApiKeyStore } from '../../src/store/person/api-keys';
import { createAuditStore } from '../../src/store/ops/audit';
import { KEYS } from '../../src/store/keys';
import { auditEntryOf } from '../support/audit';
import { useOwnRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';

/** Two processes over one Redis. Each has its own connection, so that they share nothing but Redis. */
const redis = useOwnRedis();
let processes: readonly [Stores, Stores];
beforeEach(async () => {
  processes = await Promise.all([openStores(redis.url), openStores(redis.url)]);
});
afterEach(() => processes.forEach((stores) => stores.close()));

const HOUR_MS = 3_600_000;
const keysOf = (stores: Stores) => createApiKeyStore(stores.redis);
const keyNamed = (id: string, name: string) =>
  ({ id, name, role: 'crew', createdAt: '2026-03-10T12:00:00.000Z' }) as const;
const created = { audit: auditEntryOf('key.created'), idempotency: undefined, answer: {} };
const rotated = { audit: auditEntryOf('key.rotated'), idempotency: undefined };
const auditedActions = async () => {
  const filter = { cursor: null, limit: 200, towingReferenceId: null };
  return (await createAuditStore(processes[0].redis).list(filter)).items.map(({ action }) => action);
};

/** Runs one call per process, many rounds of both at once, and returns the results of all. */
async function race<T>(rounds: number, call: (stores: Stores, number: number) => Promise<T>): Promise<T[]> {
  const numbers = Array.from({ length: rounds }, (_, round) => round);
  return Promise.all(numbers.flatMap((round) => processes.map((stores, at) => call(stores, 2 * round + at))));
}

test('of keys with the same name created at once in two processes, one is stored', async () => {
  const replies = await race(10, (stores, number) =>
    keysOf(stores).create(keyNamed(`k${number}`, 'yard'), `hash-${number}`, created),
  );

  expect(replies.filter(({ kind }) => kind === 'done')).toHaveLength(1);
  expect(replies.filter(({ kind }) => kind === 'refused')).toHaveLength(19);
  expect(await keysOf(processes[0]).list()).toHaveLength(1);
  expect(await auditedActions()).toEqual(['key.created']);
});

test('a rotation keeps the fields of a key that another version stored', async () => {
  const [{ redis: client }] = processes;
  await keysOf(processes[0]).create(keyNamed('k1', 'yard'), 'hash-1', created);
  const stored = storedObject.parse(JSON.parse((await client.hget(KEYS.apiKeys, 'k1')) ?? ''));
  await client.hset(KEYS.apiKeys, 'k1', JSON.stringify({ ...stored, later: 'kept' }));

  await keysOf(processes[0]).rotate('k1', { hash: 'hash-2', graceMs: HOUR_MS }, rotated);

  expect(JSON.parse((await client.hget(KEYS.apiKeys, 'k1')) ?? '')).toMatchObject({ hash: 'hash-2', later: 'kept' });
});

test('the name of a revoked API key can be used again', async () => {
  const keys = keysOf(processes[0]);
  await keys.create(keyNamed('k1', 'yard'), 'hash-1', created);
  await keys.rotate('k1', { hash: 'hash-2', graceMs: HOUR_MS }, rotated);
  expect(await keys.create(keyNamed('k2', 'yard'), 'hash-3', created)).toMatchObject({
    refusal: { code: 'key_name_taken' },
  });

  await keys.revoke('k1', auditEntryOf('key.revoked'));

  expect(await keys.create(keyNamed('k2', 'yard'), 'hash-3', created)).toEqual({ kind: 'done', value: {} });
  expect([await keys.findByHash('hash-1'), await keys.findByHash('hash-2')]).toEqual([null, null]);
});

test('two concurrent rotations in two processes leave two valid texts and add one audit entry each', async () => {
  await keysOf(processes[0]).create(keyNamed('k1', 'yard'), 'first', created);

  const replies = await race(10, (stores, number) =>
    keysOf(stores).rotate('k1', { hash: `hash-${number}`, graceMs: HOUR_MS }, rotated),
  );

  expect(replies).toEqual(replies.map(() => ({ kind: 'done', value: null })));
  const hashes = ['first', ...replies.map((_, number) => `hash-${number}`)];
  const found = await Promise.all(hashes.map((hash) => keysOf(processes[1]).findByHash(hash)));
  expect(found.filter((key) => key !== null)).toHaveLength(2);
  expect(await processes[0].redis.hlen(KEYS.apiKeyHashes)).toBe(2);
  expect((await auditedActions()).filter((action) => action === 'key.rotated')).toHaveLength(20);
});

test('creating a key does not read the keys that exist', async () => {
  const keys = keysOf(processes[0]);
  await keys.create(keyNamed('k1', 'yard'), 'hash-1', created);
  await redis.ask('CONFIG', 'RESETSTAT');

  await keys.create(keyNamed('k2', 'gate'), 'hash-2', created);

  const stats = await processes[0].redis.info('commandstats');
  expect(stats).toMatch(/cmdstat_hset:/);
  expect(stats).not.toMatch(/cmdstat_(hvals|hgetall|hscan|hkeys)\b/);
});
