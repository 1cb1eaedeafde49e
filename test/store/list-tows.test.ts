import { ALL_TOWS } from '../../src/workflow/list-port';
import { RULES, START, useStores } from '../support/stores';
import { acceptHead, assign, found, requestAgo, retire } from './tow-lists';
import { changeMeta } from '../support/stored-records';

const stores = useStores();
const redis = stores.server;

const AFTER = RULES.overdueAfter;

describe('tow list of several states', () => {
  test('tows in several states are one list in the order of their requests, in pages of any size, in both orders', async () => {
    // Requests alternate between the states.
    const refs = Array.from({ length: 12 }, (_, at) => `T${at}`);
    for (const [at, ref] of refs.entries()) {
      await requestAgo(stores, ref, 100 - at);
      if (at % 3 > 0) await stores.say(ref, START);
      if (at % 3 > 1) await stores.say(ref, { event: 'detained' });
    }
    const requestedOrDetained = refs.filter((_ref, at) => at % 3 !== 1);

    for (const limit of [1, 2, 5, 7, 8, 50]) {
      const states = ['requested', 'detained'] as const;
      expect(await found(stores, { states }, limit)).toEqual(requestedOrDetained.toReversed());
      expect(await found(stores, { states, order: 'oldest' }, limit)).toEqual(requestedOrDetained);
    }
    expect(await found(stores)).toEqual(refs.toReversed());
    expect(await found(stores, { order: 'oldest' }, 3)).toEqual(refs);
  });

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
