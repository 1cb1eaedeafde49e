import { decideTasks, type DecideTasksTools } from '../../jobs/decide-tasks';
import { KEYS } from '../../src/store/keys';
import { eventually } from '../support/eventually';
import {
  openTasks,
  outcomes,
  person,
  previewed,
  refOf,
  refusedReports,
  runIn,
  timesDecided,
  useBulkWorld,
} from './bulk-world';

const world = useBulkWorld();

type Failure = 'before' | 'after' | 'busy' | null;

/** An API of which some calls fail: before or after their effect, or with a refusal that asks to come back. */
function failing(fails: (params: Readonly<Record<string, string>>) => Failure): DecideTasksTools['api'] {
  const { api } = world.parts();
  return {
    ...api,
    call: async (route, call) => {
      const how = fails(call.params ?? {});
      if (how === 'before') throw new Error('Redis did not answer');
      if (how === 'busy') {
        const refusal = { httpStatus: 503, code: 'busy', message: 'Later.', details: [], retryAfterMs: 10 };
        return { ok: false, refusal };
      }
      const answer = await api.call(route, call);
      if (how === 'after') throw new Error('Redis did not answer');
      return answer;
    },
  };
}

it.each(['before', 'after', 'busy'] as const)(
  'a decision that fails (%s) is tried again and happens once',
  async (how) => {
    const task_ids = await refusedReports(world, 4);
    const who = await person(world, 'dispatcher');
    let calls = 0;
    world.worker({
      api: failing(() => {
        calls += 1;
        return calls % 2 === 1 ? how : null;
      }),
    });
    const bulk = world.console();
    const { id } = await previewed(bulk, { action: 'waive', task_ids, reason: 'gone' }, who);
    await bulk.start(id, who);
    expect(outcomes(await runIn(bulk, id, 'done'))).toEqual(task_ids.map(() => 'done'));
    expect(await timesDecided(world, task_ids, 'report.waived')).toEqual(task_ids.map(() => 1));
  },
);

it.each(['before', 'busy'] as const)(
  'a task whose decision keeps failing (%s) is left to a person and does not block the rest',
  async (how) => {
    const task_ids = await refusedReports(world, 3);
    const who = await person(world, 'dispatcher');
    const bulk = world.console();
    const { id } = await previewed(bulk, { action: 'waive', task_ids, reason: 'gone' }, who);
    await bulk.start(id, who);
    const cursed = refOf(task_ids[1] ?? '');
    const api = failing((params) => (params['towing_reference_id'] === cursed ? how : null));
    // Without the pauses that the schedule puts between the tries.
    let runs = 0;
    while ((await bulk.read(id))?.state === 'running' && runs < 20) {
      await decideTasks({ bulk_id: id }, { ...world.parts(), api });
      runs += 1;
    }
    const run = await runIn(bulk, id, 'done');
    expect(outcomes(run)).toEqual(['done', 'refused', 'done']);
    expect(run.items[1]?.words?.code).toBe('not_decided');
    expect(runs).toBe(8);
    expect(await openTasks(world)).toEqual([task_ids[1]]);
  },
);

it('a task that this worker cannot read is decided once it can, and is not recorded as gone', async () => {
  const [taskId = ''] = await refusedReports(world, 1);
  const who = await person(world, 'dispatcher');
  const bulk = world.console();
  const { id } = await previewed(bulk, { action: 'waive', task_ids: [taskId], reason: 'gone' }, who);
  await bulk.start(id, who);
  const { redis } = world.foundation;
  const text = (await redis.hget(KEYS.tasks, taskId)) ?? '';
  await redis.hset(
    KEYS.tasks,
    taskId,
    JSON.stringify({ ...JSON.parse(text), actions: ['an action of a later version'] }),
  );

  await decideTasks({ bulk_id: id }, world.parts());

  expect(await bulk.read(id)).toMatchObject({ state: 'running', items: [{ outcome: 'waiting' }] });
  await redis.hset(KEYS.tasks, taskId, text);
  await decideTasks({ bulk_id: id }, world.parts());
  expect(outcomes(await runIn(bulk, id, 'done'))).toEqual(['done']);
});

it('a task that was decided by the last try is recorded as done although every try failed', async () => {
  const task_ids = await refusedReports(world, 1);
  const who = await person(world, 'dispatcher');
  const bulk = world.console();
  const { id } = await previewed(bulk, { action: 'waive', task_ids, reason: 'gone' }, who);
  await bulk.start(id, who);
  let calls = 0;
  const api = failing(() => {
    calls += 1;
    return calls < 8 ? 'before' : 'after';
  });
  for (let runs = 0; runs < 8; runs += 1) await decideTasks({ bulk_id: id }, { ...world.parts(), api });
  expect(outcomes(await runIn(bulk, id, 'done'))).toEqual(['done']);
});

it('a run continues after Redis was killed: nothing is lost and nothing happens twice', async () => {
  const task_ids = await refusedReports(world, 12);
  const who = await person(world, 'dispatcher');
  const { api } = world.parts();
  let calls = 0;
  const deaths: Promise<void>[] = [];
  world.worker({
    api: {
      ...api,
      call: async (route, call) => {
        calls += 1;
        if (calls === 5) deaths.push(world.redis.kill());
        await Promise.all(deaths);
        return api.call(route, call);
      },
    },
  });
  const bulk = world.console();
  const { id } = await previewed(bulk, { action: 'waive', task_ids, reason: 'gone' }, who);
  await bulk.start(id, who);
  await eventually(() => expect(calls).toBeGreaterThanOrEqual(5));
  await Promise.all(deaths);
  await world.redis.start();
  await eventually(() => world.foundation.redis.ping());
  expect(outcomes(await runIn(bulk, id, 'done'))).toEqual(task_ids.map(() => 'done'));
  expect(await timesDecided(world, task_ids, 'report.waived')).toEqual(task_ids.map(() => 1));
});
