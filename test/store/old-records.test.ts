import { refusedTask, type TaskType } from '../../src/domain/tasks';
import { crewsKey, KEYS, taskGroupsKey } from '../../src/store/keys';
import { listOldRecords } from '../../src/store/old-records';
import { createTaskStore } from '../../src/store/tasks';
import { useRedis } from '../support/redis';
import { openStores, RULES, START, type Stores } from '../support/stores';
import { assign, found, inform, refuseHead, requestAgo, startedAgo } from './tow-lists';

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

/** Takes away all that an earlier version did not write. */
async function forgetLists(): Promise<void> {
  const derived = await stores.redis.keys('{p0}:index:tows:*');
  const unknown = derived.filter((key) => /:(since:.*|unsent|crew:.*|crews)$/.test(key));
  const groups = await stores.redis.keys(`${KEYS.openTasks}:*`);
  if (unknown.length + groups.length > 0) await stores.redis.del(...unknown, ...groups);
  for (const key of await stores.redis.keys('{p0}:tow:*')) await stores.redis.hdel(key, 'crew', 'listed');
}

/** All lists there are, row by row. */
async function lists(): Promise<unknown> {
  const keys = (await stores.redis.keys('{p0}:index:*')).toSorted();
  const rows = keys.map(async (key) =>
    key === taskGroupsKey
      ? (await stores.redis.smembers(key)).toSorted()
      : stores.redis.zrangebyscore(key, '-inf', '+inf', 'WITHSCORES'),
  );
  return Object.fromEntries((await Promise.all(rows)).map((members, at) => [keys[at], members]));
}

test('tows and tasks of an earlier version are listed as if this one had written them', async () => {
  await requestAgo(stores, 'T1', 100);
  await requestAgo(stores, 'T2', 100);
  await stores.say('T2', startedAgo(60));
  await refuseHead(stores, 'T2');
  await assign(stores, 'T2', 'Crew 4');
  await requestAgo(stores, 'T3', 50);
  await stores.say('T3', { event: 'canceled', cancellationReason: 'gone' });
  await inform(stores, 'T3', 'open');
  const expected = await lists();
  await forgetLists();
  expect(await lists()).not.toEqual(expected);

  expect(await listOldRecords(stores.redis)).toEqual({ tows: 3, tasks: 2 });

  expect(await lists()).toEqual(expected);
  expect(
    await found(stores, { crew: 'Crew 4', unsent: true, overdueAfter: { ...RULES.overdueAfter, startedMs: 1 } }),
  ).toEqual(['T2']);
  expect(await listOldRecords(stores.redis)).toEqual({ tows: 0, tasks: 0 });
});

test('what an earlier version wrote while this one ran is put right', async () => {
  await requestAgo(stores, 'T1', 10);
  // It knows of the state alone.
  await stores.say('T1', START);
  await stores.redis.zrem('{p0}:index:tows:since:started', 'T1');
  await stores.redis.zadd('{p0}:index:tows:since:requested', 1, 'T1');
  await stores.redis.hincrby('{p0}:tow:T1', 'version', 1);

  expect((await listOldRecords(stores.redis)).tows).toBe(1);

  expect(await stores.redis.zscore('{p0}:index:tows:since:requested', 'T1')).toBeNull();
  expect(await stores.redis.zscore('{p0}:index:tows:since:started', 'T1')).not.toBeNull();
});

test('a crew and a report that an earlier version wrote alone are found out, also when this one wrote afterwards', async () => {
  for (const ref of ['T1', 'T2', 'T3']) await requestAgo(stores, ref, 10);
  await stores.say('T1', startedAgo(5));
  await assign(stores, 'T2', 'Crew 4');
  const expected = await lists();
  await stores.redis.zrem('{p0}:index:tows:unsent', 'T1');
  await stores.redis.zrem('{p0}:index:tows:crew:Crew 4', 'T2');
  await stores.redis.zadd('{p0}:index:tows:crew:', 1, 'T2');
  await stores.redis.hset('{p0}:tow:T2', 'crew', '');
  for (const ref of ['T1', 'T2']) await stores.redis.hincrby(`{p0}:tow:${ref}`, 'version', 1);
  await inform(stores, 'T1', 'close');

  expect(await listOldRecords(stores.redis)).toEqual({ tows: 2, tasks: 0 });

  expect(await lists()).toEqual(expected);
  await inform(stores, 'T2', 'close');
  expect(await listOldRecords(stores.redis)).toEqual({ tows: 0, tasks: 0 });
});

test('of tasks that an earlier version opened and closed as many are put right as there are', async () => {
  for (const ref of ['T1', 'T2']) {
    await stores.request(ref);
    await inform(stores, ref, 'open');
  }
  const [group = ''] = await stores.redis.keys(`${KEYS.openTasks}:group:*`);
  const task = (ref: string) => `rival_request.${ref}`;
  // It closed the one and opened the other: the numbers are the same as before.
  await stores.redis.hdel(KEYS.tasks, task('T1'));
  await stores.redis.zrem(KEYS.openTasks, task('T1'));
  await stores.redis.zrem(group, task('T2'));

  expect((await listOldRecords(stores.redis)).tasks).toBe(2);

  expect(await stores.redis.zrange(group, '0', '-1')).toEqual([task('T2')]);
  expect((await listOldRecords(stores.redis)).tasks).toBe(0);
});

test('a question about a tow that is not here makes no row among the tows that need a person', async () => {
  await stores.redis.zadd(KEYS.attention, 1, 'nobody');
  await listOldRecords(stores.redis);
  expect(await stores.redis.zcard(KEYS.attention)).toBe(0);
});

test('stopped, it goes on with what is left the next time', async () => {
  for (const ref of ['T1', 'T2']) await stores.request(ref);
  await forgetLists();

  expect((await listOldRecords(stores.redis, AbortSignal.abort())).tows).toBe(0);
  expect((await listOldRecords(stores.redis)).tows).toBe(2);
});

test('a task that asks something else than before stands in one group, as old as it is', async () => {
  await stores.request('T1');
  const before = await stores.read('T1');
  const open = async (type: TaskType, version: number) => {
    const task = {
      ...refusedTask({ id: 'started-1', kind: 'started', httpStatus: 400, words: null, hint: null }),
      type,
    };
    const change = { tow: before.tow, reports: [], withdraw: { ids: [], reason: '' }, timeline: [], openTasks: [task] };
    const rest = { closeTasks: [], searchTerms: [], delivery: null, reconciled: false, audit: null };
    await stores.tows.save({ ...before, version }, { ...change, ...rest });
  };
  await open('report_unknown', before.version);
  const tasks = createTaskStore(stores.redis);
  const [first] = (await tasks.list({ cursor: null, limit: 10 })).items;
  await open('report_refused', before.version + 1);

  expect(await tasks.counts()).toEqual({
    total: 1,
    types: [{ type: 'report_refused', count: 1, kinds: [{ kind: 'started', count: 1 }] }],
  });
  const [second] = (await tasks.list({ cursor: null, limit: 10, filter: { type: 'report_refused' } })).items;
  expect(second?.opened_at).toBe(first?.opened_at);
  expect(await stores.redis.exists(crewsKey)).toBe(0);
});
