import { UnusableRecord } from '../../src/domain/outbox/unusable-record';
import { deliveryKey, KEYS, towKey, violationKey } from '../../src/store/keys';
import { walk } from '../support/conservation';
import { eventually } from '../support/eventually';
import { ACCEPTED, mustClaim, result, START, useStores } from '../support/stores';
import { openOutbox, reportViolations } from '../support/violations';

/** A part of these records is encrypted under a data key that this process lacks. */
const UNREADABLE = { later: 'aes:1:lost:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' };

const stores = useStores();
afterEach(() => {
  jest.restoreAllMocks();
});

async function makeUnusable(key: string) {
  await stores.redis.hset(key, UNREADABLE);
  return stores.redis.hgetall(key);
}

async function unusableTow(ref: string) {
  await stores.request(ref);
  await stores.say(ref, START);
  return makeUnusable(towKey(ref));
}

const PAGE = { cursor: null, limit: 10 };

test('reports of a tow that the process cannot use wait, and the tow is left as it is', async () => {
  const before = await unusableTow('T1');

  await expect(stores.outbox.claim('T1')).rejects.toThrow(UnusableRecord);
  await expect(stores.say('T1', { event: 'detained' })).rejects.toThrow('encrypted under the key');

  expect(await stores.redis.hgetall(towKey('T1'))).toEqual(before);
  expect(await stores.dueAt('T1')).not.toBeNull();
});

test.each([true, false])(
  'an accepted answer is stored once the process can use the tow again; with the next claim: %s',
  async (claimsNext) => {
    await stores.request('T1');
    await stores.say('T1', START);
    const claim = await mustClaim(stores.outbox, 'T1');
    await makeUnusable(towKey('T1'));
    await stores.redis.hset(towKey('T1'), { v: '99.of-another-process' });
    const reads = jest.spyOn(stores.redis, 'hgetall');

    const stored = stores.outbox.settle(claim, result(ACCEPTED), claimsNext).catch(String);
    const isRepeated = eventually(() => Promise.resolve(expect(reads.mock.calls.length).toBeGreaterThan(2)));
    await Promise.race([stored, isRepeated]);
    await stores.redis.hdel(towKey('T1'), ...Object.keys(UNREADABLE));

    expect(await stored).toMatchObject({ kind: 'done' });
    expect(await stores.states('T1')).toEqual(['started accepted']);
  },
);

test('a webhook for a tow that the process cannot use waits without a failure, and follows when one can', async () => {
  await unusableTow('T1');
  await stores.acceptInvoice('T1');

  expect(await stores.process('invoice-T1')).toBe('deferred');

  expect(await stores.deliveries.read('invoice-T1')).toMatchObject({ state: 'waiting', failures: 0 });
  expect(await stores.redis.zscore(KEYS.dueDeliveries, 'invoice-T1')).not.toBeNull();
  expect(await stores.generalTasks()).toEqual([]);

  await stores.redis.hdel(towKey('T1'), ...Object.keys(UNREADABLE));
  expect(await stores.process('invoice-T1')).toBe('attached');
});

test('a delivery and a violation that the process cannot use are left as they are', async () => {
  await stores.acceptInvoice('T2', 'd1');
  await reportViolations(stores, 'U1');
  const delivery = await makeUnusable(deliveryKey('d1'));
  const violation = await makeUnusable(violationKey('U1'));

  expect(await stores.process('d1')).toBe('deferred');
  await expect(openOutbox(stores).claim('U1')).rejects.toThrow(UnusableRecord);

  expect(await stores.redis.hgetall(deliveryKey('d1'))).toEqual(delivery);
  expect(await stores.redis.hgetall(violationKey('U1'))).toEqual(violation);
});

test('lists show the other records, and a read names the reason', async () => {
  await unusableTow('T1');
  await stores.request('T2');
  await makeUnusable(deliveryKey('request-T1'));

  const tows = await stores.tows.listByRefs(['T1', 'T2']);
  const deliveries = await stores.deliveries.list(PAGE);

  expect(tows.map(({ tow }) => tow.towingReferenceId)).toEqual(['T2']);
  expect(deliveries.items.map(({ id }) => id)).toEqual(['request-T2']);
  await expect(stores.tows.read('T1')).rejects.toThrow('encrypted under the key');
});

test('lists show the other records beside damaged ones, and reject while Redis does not answer', async () => {
  for (const ref of ['T1', 'T2', 'T3']) await stores.request(ref);
  await stores.redis.hset(towKey('T1'), 'head', '{"plate_number"');
  await stores.redis.hset(deliveryKey('request-T1'), 'receivedAtMs', 'never');
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

test('the conservation check counts records that the process cannot use as waiting', async () => {
  await unusableTow('T1');
  await reportViolations(stores, 'U1');
  await makeUnusable(violationKey('U1'));

  const scan = await walk(stores.redis);

  expect([scan.lostNames, scan.reports.waiting, scan.violations.waiting]).toEqual([[], 1, 1]);
});
