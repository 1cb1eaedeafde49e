import { NewerRecord, OLDEST_READER_FIELD } from '../../src/domain/unusable-record';
import { deliveryKey, KEYS, towKey, violationKey } from '../../src/store/keys';
import { walk } from '../support/conservation';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { ACCEPTED, mustClaim, openStores, result, START, type Stores } from '../support/stores';
import { openOutbox, reportViolations } from '../support/violations';

/** A later version of towhook has marked records that this one cannot understand. */

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => {
  jest.restoreAllMocks();
  stores.close();
});

/** Writes a state that only schema 9 knows, as its processes would; resolves with the record. */
async function makeNewer(key: string, fields: Readonly<Record<string, string>>) {
  await stores.redis.hset(key, { ...fields, [OLDEST_READER_FIELD]: '9' });
  return stores.redis.hgetall(key);
}

async function newerTow(ref: string) {
  await stores.request(ref);
  await stores.say(ref, START);
  const head = (await stores.redis.hget(towKey(ref), 'head')) ?? '';
  const stored = { head: head.replace('"state":"started"', '"state":"impounded"'), state: 'impounded' };
  return makeNewer(towKey(ref), stored);
}

const PAGE = { cursor: null, limit: 10 };

test('reports of a tow of a later version wait, and the tow is left as it is', async () => {
  const before = await newerTow('T1');

  await expect(stores.outbox.claim('T1')).rejects.toThrow(NewerRecord);
  await expect(stores.say('T1', { event: 'detained' })).rejects.toThrow('needs a process of schema 9 or later');

  expect(await stores.redis.hgetall(towKey('T1'))).toEqual(before);
  expect(await stores.dueAt('T1')).not.toBeNull();
});

test.each([true, false])(
  'an accepted answer is stored once the process can use the tow again; with the next claim: %s',
  async (claimsNext) => {
    await stores.request('T1');
    await stores.say('T1', START);
    const claim = await mustClaim(stores.outbox, 'T1');
    await makeNewer(towKey('T1'), { v: '99.of-another-process' });
    const reads = jest.spyOn(stores.redis, 'hgetall');

    const stored = stores.outbox.settle(claim, result(ACCEPTED), claimsNext).catch(String);
    const isRepeated = eventually(() => Promise.resolve(expect(reads.mock.calls.length).toBeGreaterThan(2)));
    await Promise.race([stored, isRepeated]);
    await stores.redis.hdel(towKey('T1'), OLDEST_READER_FIELD);

    expect(await stored).toMatchObject({ kind: 'done' });
    expect(await stores.states('T1')).toEqual(['started accepted']);
  },
);

test('a webhook for a tow of a later version waits without a failure, and follows when a process knows the tow', async () => {
  const { head = '' } = await newerTow('T1');
  await stores.acceptInvoice('T1');

  expect(await stores.process('invoice-T1')).toBe('deferred');

  expect(await stores.deliveries.read('invoice-T1')).toMatchObject({ state: 'waiting', failures: 0 });
  expect(await stores.redis.zscore(KEYS.dueDeliveries, 'invoice-T1')).not.toBeNull();
  expect(await stores.generalTasks()).toEqual([]);

  await stores.redis.hset(towKey('T1'), { head: head.replace('impounded', 'started'), state: 'started' });
  await stores.redis.hdel(towKey('T1'), OLDEST_READER_FIELD);
  expect(await stores.process('invoice-T1')).toBe('attached');
});

test('a delivery and a violation of a later version are left as they are', async () => {
  await stores.acceptInvoice('T2', 'd1');
  await reportViolations(stores, 'U1');
  const delivery = await makeNewer(deliveryKey('d1'), { state: 'quarantined' });
  const violation = await makeNewer(violationKey('U1'), { document: '{"form":"later"}' });

  expect(await stores.process('d1')).toBe('deferred');
  await expect(openOutbox(stores).claim('U1')).rejects.toThrow(NewerRecord);

  expect(await stores.redis.hgetall(deliveryKey('d1'))).toEqual(delivery);
  expect(await stores.redis.hgetall(violationKey('U1'))).toEqual(violation);
});

test('lists show the other records, and a read names the reason', async () => {
  await newerTow('T1');
  await stores.request('T2');
  await makeNewer(deliveryKey('request-T1'), { state: 'quarantined' });

  const tows = await stores.tows.listByRefs(['T1', 'T2']);
  const deliveries = await stores.deliveries.list(PAGE);

  expect(tows.map(({ tow }) => tow.towingReferenceId)).toEqual(['T2']);
  expect(deliveries.items.map(({ id }) => id)).toEqual(['request-T2']);
  await expect(stores.tows.read('T1')).rejects.toThrow('needs a process of schema 9 or later');
});

test('lists show the other records beside damaged ones, and reject while Redis does not answer', async () => {
  for (const ref of ['T1', 'T2', 'T3']) await stores.request(ref);
  await stores.redis.hset(towKey('T1'), 'head', '{"plate_number"');
  await stores.redis.hset(deliveryKey('request-T1'), 'received_at', 'never');
  await stores.redis.del(towKey('T3'));
  await stores.redis.set(towKey('T3'), 'text');
  await reportViolations(stores, 'U1', 'U2');
  await stores.redis.hset(violationKey('U1'), 'document', 'broken');

  const tows = await stores.tows.listByRefs(['T1', 'T2', 'T3']);
  const deliveries = await stores.deliveries.list(PAGE);
  const violations = await stores.violations.list({ ...PAGE, state: null, search: null });

  expect(tows.map(({ tow }) => tow.towingReferenceId)).toEqual(['T2']);
  expect(deliveries.items.map(({ id }) => id)).toEqual(['request-T3', 'request-T2']);
  expect(violations.items.map(({ violation }) => violation.id)).toEqual(['U2']);
  stores.redis.disconnect();
  await expect(stores.tows.listByRefs(['T2'])).rejects.toThrow('writeable');
});

test('a task with an action of a later version does not hide the other tasks', async () => {
  const [known, later] = ['known', 'later'].map((id) => ({
    id,
    type: 'a_test',
    message: 'a test',
    actions: ['retry'],
  }));
  await stores.redis.hset(KEYS.tasks, 'known', JSON.stringify(known));
  await stores.redis.hset(KEYS.tasks, 'later', JSON.stringify({ ...later, actions: ['reconsider'] }));
  await stores.redis.zadd(KEYS.openTasks, 1, 'known', 2, 'later');

  expect((await stores.generalTasks()).map(({ id }) => id)).toEqual(['known']);
});

test('the conservation check lists records of a later version, and reports none of them as lost', async () => {
  await newerTow('T1');
  await makeNewer(deliveryKey('request-T1'), { state: 'quarantined' });
  await reportViolations(stores, 'U1');
  await makeNewer(violationKey('U1'), { document: '{"form":"later"}' });

  const scan = await walk(stores.redis);

  expect(scan).toMatchObject({ newer: 3, newerNames: ['delivery request-T1', 'report T1 1', 'violation U1'] });
  expect([scan.lostNames, scan.reports.waiting, scan.deliveries.waiting, scan.violations.waiting]).toEqual([
    [],
    1,
    1,
    1,
  ]);
});
