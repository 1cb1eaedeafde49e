import { ALL_TOWS } from '../../src/workflow/list-port';
import { deliveryKey } from '../../src/store/keys';
import { RULES, START, useStores } from '../support/stores';
import { acceptHead, assign, found, refuseHead, requestAgo, retire, startedAgo } from './tow-lists';
import { changeMeta } from '../support/stored-records';

const stores = useStores();
const redis = stores.server;

const AFTER = RULES.overdueAfter;
const counts = () => stores.tows.counts(AFTER);

test('tows requested at the same time are each shown once, in both orders', async () => {
  const refs = Array.from({ length: 9 }, (_, at) => `T${at}`);
  for (const ref of refs) {
    await requestAgo(stores, ref, 0);
    await changeMeta(stores.redis, ref, { requestedAtMs: 1_700_000_000_000 });
    if (ref > 'T4') await stores.say(ref, START);
  }
  const rows = refs.flatMap((ref) => [1_700_000_000_000, ref]);
  for (const key of ['{towhook-main}:index:tows', '{towhook-main}:index:tows:requested']) {
    await stores.redis.zadd(key, 'XX', ...rows);
  }
  for (const limit of [1, 2, 4]) {
    const states = ['requested', 'started'] as const;
    expect(await found(stores, { states }, limit)).toEqual(refs.toReversed());
    expect(await found(stores, { states, order: 'oldest' }, limit)).toEqual(refs);
  }
});

test('a page of the tow list that ends with the last tow has no next page', async () => {
  for (const ref of ['T1', 'T2', 'T3']) await requestAgo(stores, ref, 1);
  await stores.say('T2', START);
  for (const filter of [{}, { states: ['requested', 'started'] }, { unsent: true }] as const) {
    const all = await found(stores, filter);
    const page = await stores.tows.list({ ...ALL_TOWS, ...filter, cursor: null, limit: all.length });
    expect([page.items.length, page.nextCursor]).toEqual([all.length, null]);
  }
});

test('reading many tows by reference keeps the given order and skips missing tows', async () => {
  expect(await stores.tows.listByRefs([])).toEqual([]);
  for (const ref of ['T1', 'T2', 'T3']) await stores.request(ref);
  await stores.say('T2', START);

  const records = await stores.tows.listByRefs(['T3', 'unknown', 'T1', 'T2']);

  expect(records.map(({ tow }) => tow.towingReferenceId)).toEqual(['T3', 'T1', 'T2']);
  const alone = await stores.tows.read('T2');
  expect(records[2]).toEqual({ ...alone, readAtMs: records[2]?.readAtMs });
});

test('a short page of the tow list reads only its own records, and no index rows that an index already answers', async () => {
  for (let at = 0; at < 150; at += 1) await requestAgo(stores, `T${at}`, 200 - at);
  for (const ref of ['T3', 'T70', 'T140']) await stores.say(ref, START);
  for (const [filter, count] of [
    [{}, 10],
    [{ unsent: true }, 3],
    [{ overdueAfter: AFTER }, 10],
    [{ states: ['started'] }, 3],
  ] as const) {
    await redis.ask('CONFIG', 'RESETSTAT');
    const page = await stores.tows.list({ ...ALL_TOWS, ...filter, cursor: null, limit: 10 });
    const stats = await stores.redis.info('commandstats');
    expect(page.items).toHaveLength(count);
    const calls = (command: string) => Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
    expect([calls('hgetall'), calls('evalsha')]).toEqual([count, 'overdueAfter' in filter ? calls('evalsha') : 0]);
  }
});

test('an archived tow and its crew are removed from all lists', async () => {
  await requestAgo(stores, 'T1', 10);
  await assign(stores, 'T1', 'Crew 4');
  await stores.say('T1', { event: 'canceled', cancellationReason: 'gone' });
  await acceptHead(stores, 'T1');

  await retire(stores, 'T1');

  expect(await stores.redis.keys('{towhook-main}:index:tows*')).toEqual([]);
});

test('the counts of the tow list name the crews to which tows are assigned now', async () => {
  for (const ref of ['T1', 'T2']) await stores.request(ref);
  await assign(stores, 'T1', 'Crew 4');
  await assign(stores, 'T2', 'Crew 4');
  await assign(stores, 'T2', 'طاقم ١');
  expect((await counts()).crews).toEqual(['Crew 4', 'طاقم ١']);

  await assign(stores, 'T1', null);
  expect((await counts()).crews).toEqual(['طاقم ١']);
});

test('overdue tows follow a correction of their start time', async () => {
  await requestAgo(stores, 'T1', 300);
  await stores.say('T1', startedAgo(10));
  await refuseHead(stores, 'T1');
  const only = { ...AFTER, reportMs: 0 };
  expect(await found(stores, { overdueAfter: only })).toEqual([]);

  const moment = new Date(Date.now() - 250 * 60_000).toISOString();
  await stores.decide('T1', 'started-1', { action: 'correct', fields: { status_update_time: moment } });

  expect(await found(stores, { overdueAfter: only })).toEqual(['T1']);
});

describe('search filter', () => {
  test('a search lists exact matches first, or follows the order of requests when that order is requested', async () => {
    for (const [at, ref] of ['T1', 'T12', 'T11'].entries()) await requestAgo(stores, ref, 10 - at);

    expect(await found(stores, { search: 'T1' }, 1)).toEqual(['T1', 'T11', 'T12']);
    expect(await found(stores, { search: 'T1', order: 'newest' }, 1)).toEqual(['T11', 'T12', 'T1']);
    expect(await found(stores, { search: 'T1', order: 'oldest' }, 2)).toEqual(['T1', 'T12', 'T11']);
  });

  test('a search for a number lists the tow with this id before tows whose plates begin with it', async () => {
    for (const [at, ref] of ['T1', 'T2', 'T3'].entries()) {
      await requestAgo(stores, ref, 10 - at);
      await stores.say(ref, { ...START, plateNumber: `12${at} ABJ` });
    }
    await requestAgo(stores, '120', 1);
    await requestAgo(stores, '12', 1);

    expect(await found(stores, { search: '12' }, 1)).toEqual(['12', 'T1', 'T2', 'T3', '120']);
    expect(await found(stores, { search: '121abj' })).toEqual(['T2']);
  });

  test('a search with other filters fills whole pages with matching tows', async () => {
    const refs = Array.from({ length: 9 }, (_, at) => `T${at}`);
    for (const [at, ref] of refs.entries()) {
      await requestAgo(stores, ref, 20 - at);
      if (at % 2 === 0) await stores.say(ref, START);
    }
    const page = await stores.tows.list({ ...ALL_TOWS, search: 't', states: ['started'], cursor: null, limit: 3 });

    expect(page.items.map(({ tow }) => tow.towingReferenceId)).toEqual(['T0', 'T2', 'T4']);
    expect(page.nextCursor).not.toBeNull();
  });
});

test('a task about a tow reference counts no tow as needing action until the tow request arrives', async () => {
  await stores.acceptInvoice('T1');
  await stores.process('invoice-T1');
  await stores.redis.hset(deliveryKey('invoice-T1'), 'parkedAtMs', 1);
  expect(await stores.process('invoice-T1')).toBe('parked');
  expect((await counts()).attention).toBe(0);

  await stores.request('T1');

  expect((await counts()).attention).toBe(1);
  expect(await found(stores, { attention: true })).toEqual(['T1']);
});
