import { refusedTask } from '../../src/domain/tasks';
import { createTaskStore } from '../../src/store/tasks';
import { standings, walk } from '../support/conservation';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { ACCEPTED, LEASE_MS, mustClaim, openStores, result, START, towRequest, type Stores } from '../support/stores';

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

const found = () => standings(stores.redis);
const accept = (id: string) => stores.accept('tow_request', towRequest(`tow-of-${id}`), id);

async function parkInvoice(ref: string): Promise<void> {
  await stores.acceptInvoice(ref);
  await stores.process(`invoice-${ref}`);
}

/** A tow that owes the start, the detention and the release. */
async function towWithThree(ref = 'T1'): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, START);
  await stores.say(ref, { event: 'detained' });
  await stores.say(ref, { event: 'released' });
}

describe('of deliveries the next walk finds', () => {
  test.each([
    ['a record that is gone', 'DEL', '{p0}:delivery:d1'],
    ['a record in a state that nobody knows', 'HSET', '{p0}:delivery:d1', 'state', 'somewhere'],
    ['a record without a state', 'HDEL', '{p0}:delivery:d1', 'state'],
    ['a record that is none', 'SET', '{p0}:delivery:d1', 'foreign'],
  ])('%s', async (_what, ...command) => {
    await accept('d1');
    await accept('d2');
    await redis.ask(...command);

    expect((await found()).deliveries).toEqual({ waiting: 1, lost: 1 });
    expect((await walk(stores.redis)).lostNames).toEqual(['delivery d1']);
  });

  test('one that waits and has no due mark, and gives it one', async () => {
    await accept('d1');
    await stores.redis.zrem('{p0}:due:deliveries', 'd1');

    expect((await found()).deliveries).toEqual({ lost: 1, repaired: 1 });

    expect((await found()).deliveries).toEqual({ waiting: 1 });
    expect(await stores.due.deliveries.take(10, 1000)).toEqual(['d1']);
  });

  test('a tow request whose tow is neither here nor remembered as archived', async () => {
    await stores.request('T1');
    expect((await found()).deliveries).toEqual({ finished: 1 });

    await stores.redis.del('{p0}:tow:T1');
    expect((await found()).deliveries).toEqual({ lost: 1 });

    await stores.redis.zadd('{p0}:tombstones', 1, 'T1');
    expect((await found()).deliveries).toEqual({ finished: 1 });
  });

  test('one that is parked and stands on no list', async () => {
    await parkInvoice('T1');
    await stores.redis.del('{p0}:tow-parked:T1');

    expect((await found()).deliveries).toEqual({ lost: 1 });
    expect((await found()).deliveries).toEqual({ lost: 1 });
  });

  test('one that is parked and that nobody would ever be asked about, and gives it its due mark', async () => {
    await parkInvoice('T1');
    await stores.redis.zrem('{p0}:due:deliveries', 'invoice-T1');

    expect((await found()).deliveries).toEqual({ lost: 1, repaired: 1 });

    expect((await found()).deliveries).toEqual({ parked: 1 });
  });

  test('one that is parked and about which the question got lost, and has it asked again', async () => {
    await parkInvoice('T1');
    await stores.redis.hset('{p0}:delivery:invoice-T1', 'parked_at', 1);
    await stores.process('invoice-T1');
    await stores.redis.hdel('{p0}:tasks', 'invoice_parked.T1');

    expect((await found()).deliveries).toEqual({ lost: 1, repaired: 1 });

    expect(await stores.process('invoice-T1')).toBe('parked');
    expect((await found()).deliveries).toEqual({ with_a_person: 1 });
  });

  test('one that its tow took from the list and whose due mark got lost, and gives it another', async () => {
    await parkInvoice('T1');
    await stores.request('T1');
    await stores.redis.zrem('{p0}:due:deliveries', 'invoice-T1');

    expect((await found()).deliveries).toEqual({ finished: 1, lost: 1, repaired: 1 });

    expect((await found()).deliveries).toEqual({ finished: 1, waiting: 1 });
  });
});

describe('of reports the next walk finds', () => {
  const TOW = '{p0}:tow:T1';
  const REPORTS = '{p0}:tow-reports:T1';

  test.each([
    { what: 'those of a tow that is gone', command: ['DEL', TOW], expected: { lost: 3 } },
    { what: 'those that are gone themselves', command: ['DEL', REPORTS], expected: { lost: 3 } },
    { what: 'one that is gone, with those it holds up', command: ['HDEL', REPORTS, '1:state'], expected: { lost: 3 } },
    { what: 'one behind the head', command: ['HDEL', REPORTS, '3:state'], expected: { waiting: 2, lost: 1 } },
    { what: 'one in an unknown state', command: ['HSET', REPORTS, '1:state', 'somewhere'], expected: { lost: 3 } },
    { what: 'one behind it likewise', command: ['HSET', REPORTS, '3:state', 'x'], expected: { waiting: 2, lost: 1 } },
    { what: 'one that the head has passed', command: ['HSET', TOW, 'head', '2'], expected: { waiting: 2, lost: 1 } },
    { what: 'one behind the end', command: ['HSET', TOW, 'tail', '2'], expected: { waiting: 2, lost: 1 } },
    { what: 'those of a tow that is none', command: ['SET', TOW, 'foreign'], expected: { lost: 3 } },
  ])('$what', async ({ command, expected }) => {
    await towWithThree();
    await redis.ask(...command);

    expect((await found()).reports).toEqual(expected);
    expect((await found()).reports).toEqual(expected);
  });

  test('one that was accepted and whose tow is gone', async () => {
    await towWithThree();
    await stores.outbox.ack(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
    expect((await found()).reports).toEqual({ finished: 1, waiting: 2 });
    await redis.ask('DEL', TOW);

    expect((await found()).reports).toEqual({ lost: 3 });
  });

  test('an outbox without a due mark, and gives it one: what stands behind its head waits again', async () => {
    await towWithThree();
    await stores.redis.zrem('{p0}:due:tows', 'T1');

    expect((await found()).reports).toEqual({ waiting: 2, lost: 1, repaired: 1 });

    expect((await found()).reports).toEqual({ waiting: 3 });
    expect(await stores.due.tows.take(10, 1000)).toEqual(['T1']);
    expect(await mustClaim(stores.outbox, 'T1')).toMatchObject({ reportKind: 'started' });
  });

  test('one lost mark once, in whatever order it comes by the reports of the outbox', async () => {
    await towWithThree();
    for (const seq of [1, 2, 3]) await stores.redis.zadd('{p0}:ledger', 4 - seq, `report\nT1\n${seq}`);
    await stores.redis.zrem('{p0}:due:tows', 'T1');

    expect((await found()).reports).toEqual({ waiting: 2, lost: 1, repaired: 1 });
  });

  test('an outbox whose worker is lost and that nobody would come back to, once its lease is over', async () => {
    await towWithThree();
    await mustClaim(stores.outbox, 'T1');
    await stores.redis.zrem('{p0}:due:tows', 'T1');
    expect((await found()).reports).toEqual({ waiting: 3 });

    const walks = await eventually(async () => {
      const now = (await found()).reports;
      expect(now).not.toEqual({ waiting: 3 });
      return now;
    }, 10 * LEASE_MS);

    expect(walks).toEqual({ waiting: 2, lost: 1, repaired: 1 });
  });

  test('one that only a person can go on with and that nobody was asked about', async () => {
    await towWithThree();
    const claimed = await mustClaim(stores.outbox, 'T1');
    const task = refusedTask({ id: 'started-1', kind: 'started', httpStatus: 400, words: 'no', hint: null });
    await stores.outbox.ack(claimed, result({ next: 'refused', hint: null }, { task, hadNoEffect: true }));
    expect((await found()).reports).toEqual({ with_a_person: 1, waiting: 2 });
    await stores.redis.hdel('{p0}:tasks', 'started-1.T1');

    expect((await found()).reports).toEqual({ lost: 3 });
    expect(await stores.dueAt('T1')).toBeNull();
  });

  test('the names of those that are lost, by tow and place', async () => {
    await towWithThree('TW-20261120-9F4D1A');
    await redis.ask('DEL', '{p0}:tow:TW-20261120-9F4D1A');

    const reports = [1, 2, 3].map((seq) => `report TW-20261120-9F4D1A ${seq}`);
    expect((await walk(stores.redis)).lostNames).toEqual(['delivery request-TW-20261120-9F4D1A', ...reports]);
  });
});

describe('what is lost', () => {
  const task = () => createTaskStore(stores.redis).read('records_lost');

  test('is one task, open from the first one found until a whole walk finds none', async () => {
    await accept('d1');
    await walk(stores.redis);
    expect(await task()).toBeNull();

    await stores.redis.rename('{p0}:delivery:d1', '{p0}:elsewhere');
    await walk(stores.redis);
    await walk(stores.redis);
    expect(await task()).toMatchObject({ type: 'records_lost', actions: [] });
    expect(await stores.redis.zcard('{p0}:index:tasks')).toBe(1);

    await stores.redis.rename('{p0}:elsewhere', '{p0}:delivery:d1');
    await walk(stores.redis);
    expect(await task()).toBeNull();
    expect(await stores.redis.zcard('{p0}:index:tasks')).toBe(0);
  });

  test('is counted whatever its number, and the first hundred are named', async () => {
    const ids = Array.from({ length: 150 }, (_, index) => `d${String(index).padStart(3, '0')}`);
    for (const id of ids) await accept(id);
    await stores.redis.del(...ids.map((id) => `{p0}:delivery:${id}`));

    const { deliveries, lostNames } = await walk(stores.redis);

    expect(deliveries).toMatchObject({ acknowledged: 150, lost: 150, repaired: 0 });
    expect(lostNames).toHaveLength(100);
    expect(new Set(lostNames).size).toBe(100);
  });

  test('hides nothing else: a record that cannot be read does not end the walk', async () => {
    for (const id of ['d1', 'd2', 'd3']) await accept(id);
    await redis.ask('SET', '{p0}:delivery:d2', 'foreign');
    await redis.ask('ZADD', '{p0}:ledger', '0', 'a foreign name');

    const { deliveries, reports, lostNames } = await walk(stores.redis);

    expect(deliveries).toMatchObject({ acknowledged: 3, waiting: 2, lost: 1 });
    expect(reports).toMatchObject({ acknowledged: 1, lost: 1 });
    expect(lostNames).toEqual(['a foreign name', 'delivery d2']);
  });
});
