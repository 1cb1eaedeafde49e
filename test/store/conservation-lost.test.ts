import { createTaskStore } from '../../src/store/ops/tasks';
import { standings, walk } from '../support/conservation';
import { towRequest, useStores } from '../support/stores';

const stores = useStores();
const redis = stores.server;

const found = () => standings(stores.redis);
const accept = (id: string) => stores.accept('tow_request', towRequest(`tow-of-${id}`), id);

async function parkInvoice(ref: string): Promise<void> {
  await stores.acceptInvoice(ref);
  await stores.process(`invoice-${ref}`);
}

describe('conservation scan of lost deliveries', () => {
  test.each([
    ['its record is missing', 'DEL', '{towhook-main}:delivery:d1'],
    ['its record is in an unknown state', 'HSET', '{towhook-main}:delivery:d1', 'state', 'somewhere'],
    ['its record has no state', 'HDEL', '{towhook-main}:delivery:d1', 'state'],
    ['its key holds another type', 'SET', '{towhook-main}:delivery:d1', 'foreign'],
  ])('the conservation scan counts a delivery as lost: %s', async (_what, ...command) => {
    await accept('d1');
    await accept('d2');
    await redis.ask(...command);

    expect((await found()).deliveries).toEqual({ waiting: 1, lost: 1 });
    expect((await walk(stores.redis)).lostNames).toEqual(['delivery d1']);
  });

  test('the conservation scan reports a waiting delivery without a schedule entry as lost and schedules it', async () => {
    await accept('d1');
    await stores.redis.zrem('{towhook-main}:due:deliveries', 'd1');

    expect((await found()).deliveries).toEqual({ lost: 1, repaired: 1 });

    expect((await found()).deliveries).toEqual({ waiting: 1 });
    expect(await stores.schedules.deliveries.pollDue(10, 1000)).toEqual(['d1']);
  });

  test('the conservation scan reports a tow request without a tow or an archived marker as lost', async () => {
    await stores.request('T1');
    expect((await found()).deliveries).toEqual({ finished: 1 });

    await stores.redis.del('{towhook-main}:tow:T1');
    expect((await found()).deliveries).toEqual({ lost: 1 });

    await stores.redis.zadd('{towhook-main}:tombstones', 1, 'T1');
    expect((await found()).deliveries).toEqual({ finished: 1 });
  });

  test('the conservation scan reports a parked delivery that no tow lists as lost', async () => {
    await parkInvoice('T1');
    await stores.redis.hdel('{towhook-main}:tow:T1', 'w:invoice-T1');

    expect((await found()).deliveries).toEqual({ lost: 1 });
    expect((await found()).deliveries).toEqual({ lost: 1 });
  });

  test('the conservation scan reports a parked delivery that would never open a task as lost and schedules it', async () => {
    await parkInvoice('T1');
    await stores.redis.zrem('{towhook-main}:due:deliveries', 'invoice-T1');

    expect((await found()).deliveries).toEqual({ lost: 1, repaired: 1 });

    expect((await found()).deliveries).toEqual({ parked: 1 });
  });

  test('the conservation scan restores the lost task about a parked delivery', async () => {
    await parkInvoice('T1');
    await stores.redis.hset('{towhook-main}:delivery:invoice-T1', 'parkedAtMs', 1);
    await stores.process('invoice-T1');
    await stores.redis.hdel('{towhook-main}:tasks', 'invoice_parked.T1');

    expect((await found()).deliveries).toEqual({ lost: 1, repaired: 1 });

    expect(await stores.process('invoice-T1')).toBe('parked');
    expect((await found()).deliveries).toEqual({ with_a_person: 1 });
  });

  test('the conservation scan schedules a delivery that its tow has unparked and whose schedule entry is missing', async () => {
    await parkInvoice('T1');
    await stores.request('T1');
    await stores.redis.zrem('{towhook-main}:due:deliveries', 'invoice-T1');

    expect((await found()).deliveries).toEqual({ finished: 1, lost: 1, repaired: 1 });

    expect((await found()).deliveries).toEqual({ finished: 1, waiting: 1 });
  });
});

describe('conservation scan results', () => {
  const task = () => createTaskStore(stores.redis).read('records_lost');

  test('the task about lost records is open from the first lost record until a complete scan finds none', async () => {
    await accept('d1');
    await walk(stores.redis);
    expect(await task()).toBeNull();

    await stores.redis.rename('{towhook-main}:delivery:d1', '{towhook-main}:elsewhere');
    await walk(stores.redis);
    await walk(stores.redis);
    expect(await task()).toMatchObject({ type: 'records_lost', actions: [] });
    expect(await stores.redis.zcard('{towhook-main}:index:tasks')).toBe(1);

    await stores.redis.rename('{towhook-main}:elsewhere', '{towhook-main}:delivery:d1');
    await walk(stores.redis);
    expect(await task()).toBeNull();
    expect(await stores.redis.zcard('{towhook-main}:index:tasks')).toBe(0);
  });

  test('the conservation scan counts all lost records and names the first hundred', async () => {
    const ids = Array.from({ length: 150 }, (_, index) => `d${String(index).padStart(3, '0')}`);
    for (const id of ids) await accept(id);
    await stores.redis.del(...ids.map((id) => `{towhook-main}:delivery:${id}`));

    const { deliveries, lostNames } = await walk(stores.redis);

    expect(deliveries).toMatchObject({ acknowledged: 150, lost: 150, repaired: 0 });
    expect(lostNames).toHaveLength(100);
    expect(new Set(lostNames).size).toBe(100);
  });

  test('a record that cannot be decoded does not end the conservation scan', async () => {
    for (const id of ['d1', 'd2', 'd3']) await accept(id);
    await redis.ask('SET', '{towhook-main}:delivery:d2', 'foreign');
    await redis.ask('ZADD', '{towhook-main}:index:tows', '1', 'a foreign\nname');

    const { deliveries, reports, lostNames } = await walk(stores.redis);

    expect(deliveries).toMatchObject({ acknowledged: 3, waiting: 2, lost: 1 });
    expect(reports).toMatchObject({ acknowledged: 1, lost: 1 });
    expect(lostNames).toEqual(['delivery d2', 'tow a foreign name']);
  });
});
