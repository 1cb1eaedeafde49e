import type { NewTask } from '../../src/domain/ops/tasks';
import { DataKeys } from '../../src/platform/data-keys';
import { privateAccess } from '../../src/store/redis/access';
import { createAnswerStore } from '../../src/store/redis/answers';
import { createRunStore } from '../../src/store/ops/runs';
import { checkEntries } from '../../src/store/ops/check-entries';
import { deliveryKey, idempotencyKey, KEYS, towKey } from '../../src/store/keys';
import { createWithheldStore } from '../../src/store/outbox/withheld';
import { createTaskStore, openGeneralTask, closeGeneralTask } from '../../src/store/ops/tasks';
import { dataKeysText, linesOf } from '../support/data-keys';
import { useRedis } from '../support/redis';
import { openStores, reference, START, type Stores } from '../support/stores';
import { report, violationOf } from '../support/violations';

const redis = useRedis();
const text = dataKeysText('a', 'b');
const opened: Stores[] = [];
afterEach(() => {
  for (const stores of opened.splice(0)) stores.close();
});

/** Stores of a process with these keys of one file; without any, of a process without the file. */
async function storesWith(...ids: readonly string[]): Promise<Stores> {
  const keys = ids.length === 0 ? null : new DataKeys('', linesOf(text, ...ids));
  const stores = await openStores(privateAccess(redis.url, keys));
  opened.push(stores);
  return stores;
}

const fieldsOf = async ({ redis: connection }: Stores, key: string) => {
  const fields = Object.entries(await connection.hgetallBuffer(key));
  return new Map(fields.map(([name, value]) => [name, value.toString()]));
};

test('records that were stored without keys are read and encrypted where they change once there are keys', async () => {
  const plain = await storesWith();
  const ref = await plain.request('T1');
  const encrypting = await storesWith('a');
  expect((await encrypting.read(ref)).tow.state).toBe('requested');

  await encrypting.say(ref, START);
  const fields = await fieldsOf(encrypting, towKey(ref));
  expect(fields.get('meta')).toMatch(/^\{/);
  expect(fields.get('head')).toMatch(/^aes:1:a:/);
  expect(fields.get('state')).toBe('started');
  expect((await encrypting.read(ref)).tow.plateNumber).toBe(START.plateNumber);
});

test('a process that lacks the key leaves a record as it is, lists the others, and counts it as waiting', async () => {
  const encrypting = await storesWith('a');
  const ref = await encrypting.request('T1');
  for (const lacking of [await storesWith('b'), await storesWith()]) {
    const before = await fieldsOf(lacking, towKey(ref));
    await expect(lacking.say(ref, START)).rejects.toThrow(
      'the record is encrypted under the key "a", which this process lacks (DATA_KEYS_FILE)',
    );
    await encrypting.accept('tow_request', { violation_reference_id: 'V', towing_reference_id: 'T9' }, 'd9');
    expect(await lacking.process('d9')).toBe('deferred');
    expect((await lacking.deliveries.list({ cursor: null, limit: 10 })).items).toEqual([]);
    expect(await lacking.tows.listByRefs([ref])).toEqual([]);
    const entry = { index: 'tows', score: 0, member: ref } as const;
    expect(await checkEntries(lacking.redis, [entry], 0)).toMatchObject([{ state: 'waiting' }]);
    expect(await fieldsOf(lacking, towKey(ref))).toEqual(before);
  }
});

test('the lists of shadow records and of runs leave out what a process lacks the key of', async () => {
  const [encrypting, lacking] = [await storesWith('a', 'b'), await storesWith('b')];
  const ref = await encrypting.request('T1');
  await encrypting.redis.zadd(KEYS.withheld, 1, ref);
  const by = { id: 'k1', name: 'tester', role: 'ops' } as const;
  const run = { by, action: 'accept', reason: null, total: 0 } as const;
  await createRunStore(encrypting.redis).create({ ...run, id: 'B1' }, [], undefined);
  await createRunStore(lacking.redis).create({ ...run, id: 'B2' }, [], undefined);

  const { items } = await createWithheldStore(lacking.redis).list({ cursor: null, limit: 10 });
  const runs = await createRunStore(lacking.redis).recent(10);

  expect(items).toEqual([]);
  expect(runs.map(({ document }) => document.id)).toEqual(['B2']);
});

test('an encrypted value that was copied from another record is refused, and the check counts that record as lost', async () => {
  const stores = await storesWith('a');
  const [first, second] = [await stores.request('T1'), await stores.request('T2')];
  await stores.say(first, START);
  await stores.say(second, START);
  const copied = (await fieldsOf(stores, towKey(first))).get('head') ?? '';
  await stores.redis.hset(towKey(second), 'head', copied);

  await expect(stores.read(second)).rejects.toThrow('the encrypted field head of a record was changed, or moved');
  const items = await checkEntries(stores.redis, [{ index: 'tows', score: 0, member: second }], Date.now());
  expect(items.map(({ state }) => state)).toEqual(['lost']);
  expect((await stores.read(first)).tow.plateNumber).toBe(START.plateNumber);
});

test('a general task is encrypted, and another process closes it', async () => {
  const stores = await storesWith('a');
  const task: NewTask = { subject: 'failing', type: 'delivery_failing', message: 'of Salem', actions: [] };
  await openGeneralTask(stores.redis, task);
  expect((await fieldsOf(stores, KEYS.tasks)).get('failing')).toMatch(/^aes:1:a:/);
  expect(await stores.generalTasks()).toMatchObject([{ message: 'of Salem' }]);

  const other = await storesWith('b', 'a');
  expect(await closeGeneralTask(other.redis, 'failing')).toBe(true);
  expect(await stores.generalTasks()).toEqual([]);
});

test('a task whose encrypted text was changed is left out of the lists and can be closed', async () => {
  const stores = await storesWith('a');
  const failing: NewTask = { subject: 'failing', type: 'delivery_failing', message: 'of Salem', actions: [] };
  await openGeneralTask(stores.redis, failing);
  await openGeneralTask(stores.redis, { ...failing, subject: 'other', message: 'of Majed' });
  const moved = (await fieldsOf(stores, KEYS.tasks)).get('other') ?? '';
  await stores.redis.hset(KEYS.tasks, 'failing', moved);
  const tasks = createTaskStore(stores.redis);

  expect((await tasks.list({ cursor: null, limit: 10 })).items.map(({ id }) => id)).toEqual(['other']);
  expect(await closeGeneralTask(stores.redis, 'failing')).toBe(true);
  expect(await tasks.counts()).toEqual({ total: 1, types: [{ type: 'delivery_failing', count: 1, kinds: [] }] });
});

test.each([
  ['a process without keys', []],
  ['a process with the key', ['a']],
  ['a process with another key', ['b']],
])('%s processes webhooks whose ids look like encrypted values', async (_process, ids) => {
  const stores = await storesWith(...ids);
  for (const [at, text] of ['aes:1:a:AAAA', 'changed aes:1:a:AAAA'].entries()) {
    const [ref, id] = [reference(text), `d${at}`];
    await stores.accept('tow_request', { violation_reference_id: `V${at}`, towing_reference_id: ref }, id);
    await stores.redis.hset(deliveryKey(id), 'signatureId', text);

    expect(await stores.process(id)).toBe('created');
    expect((await stores.read(ref)).tow.violationReferenceId).toBe(`V${at}`);
    expect(await stores.deliveries.read(id)).toMatchObject({ towingReferenceId: ref, signatureId: text });
  }
});

test('a delivery is stored encrypted and processed into its tow', async () => {
  const stores = await storesWith('a');
  const ref = reference('T1');
  await stores.accept('tow_request', { violation_reference_id: 'V1', towing_reference_id: ref }, 'd1');
  const fields = await fieldsOf(stores, deliveryKey('d1'));
  expect(fields.get('rawBody')).toMatch(/^aes:1:a:/);
  expect(fields.get('towingReferenceId')).toBe(ref);

  expect(await stores.process('d1')).not.toBe('deferred');
  expect((await stores.deliveries.read('d1'))?.rawBody).toContain('"V1"');
});

test('the answer of a request with an Idempotency-Key is stored encrypted and repeated', async () => {
  const stores = await storesWith('a');
  const idempotency = { scope: 'POST /api/violations k1', fingerprint: 'f1' };
  await report(stores, violationOf('U1'), idempotency);
  const fields = await fieldsOf(stores, idempotencyKey(idempotency.scope));
  expect([...fields.values()].map((stored) => stored.startsWith('aes:1:a:'))).toEqual([true, true]);

  const found = await createAnswerStore(stores.redis).find(idempotency.scope);
  expect(found?.fingerprint).toBe('f1');
  expect(JSON.parse(found?.answer ?? '')).toMatchObject({ id: 'U1', state: 'pending' });
});
