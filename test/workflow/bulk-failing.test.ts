import type { Bulk, BulkOptions, BulkPerson } from '../../src/workflow/bulk';
import { eventually } from '../support/eventually';
import {
  codeOf,
  openTasks,
  outcomes,
  person,
  previewed,
  refusedReports,
  runIn,
  timesDecided,
  useBulkWorld,
} from './bulk-world';

const world = useBulkWorld();
async function finish(bulk: Bulk, id: string, who: BulkPerson): Promise<void> {
  // One that had come to its end before its process was lost has nothing to go on with.
  expect(['ok', 'bulk_done']).toContain(await codeOf(bulk.resume(id, who)));
  await runIn(bulk, id, 'done');
}

/** An API of which some calls fail, before they have their effect or after. */
function failing(fails: (call: number) => 'before' | 'after' | 'busy' | null): BulkOptions['api'] {
  const { api } = world.parts();
  let calls = 0;
  return {
    ...api,
    call: async (route, call) => {
      calls += 1;
      const how = fails(calls);
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
  'a decision that fails (%s) is tried again, and made once',
  async (how) => {
    const task_ids = await refusedReports(world, 6);
    const who = await person(world, 'dispatcher');
    const bulk = world.console({ api: failing((call) => (call % 2 === 1 ? how : null)) });
    const { id } = await previewed(bulk, { action: 'waive', task_ids, reason: 'gone' }, who);
    await bulk.start(id, who);
    expect(outcomes(await runIn(bulk, id, 'done'))).toEqual(task_ids.map(() => 'done'));
    expect(await timesDecided(world, task_ids, 'report.waived')).toEqual(task_ids.map(() => 1));
  },
);

it.each(['before', 'busy'] as const)(
  'where decisions keep failing (%s) the run is interrupted and the rest waits; later it goes on',
  async (how) => {
    const task_ids = await refusedReports(world, 12);
    const who = await person(world, 'dispatcher');
    const bulk = world.console({ api: failing((call) => (call > 3 ? how : null)) });
    const { id } = await previewed(bulk, { action: 'waive', task_ids, reason: 'gone' }, who);
    await bulk.start(id, who);
    const run = await runIn(bulk, id, 'interrupted');
    expect(run).toMatchObject({ interruption: 'not_answering', counts: { done: 3, waiting: 9 } });
    expect(await openTasks(world)).toHaveLength(9);
    const other = world.console();
    await finish(other, id, who);
    expect(await timesDecided(world, task_ids, 'report.waived')).toEqual(task_ids.map(() => 1));
  },
);

it('Redis that dies in the middle interrupts a run; nothing is lost and nothing done twice', async () => {
  const task_ids = await refusedReports(world, 12);
  const who = await person(world, 'dispatcher');
  const { api } = world.parts();
  let calls = 0;
  const deaths: Promise<void>[] = [];
  const bulk = world.console({
    leaseMs: 1000,
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
  const { id } = await previewed(bulk, { action: 'waive', task_ids, reason: 'gone' }, who);
  await bulk.start(id, who);
  await eventually(() => expect(calls).toBeGreaterThanOrEqual(5));
  await Promise.all(deaths);
  await world.redis.start();
  await eventually(() => world.foundation.redis.ping());
  await runIn(bulk, id, 'interrupted', 'done');
  const other = world.console();
  await finish(other, id, who);
  expect(outcomes(await runIn(other, id, 'done'))).toEqual(task_ids.map(() => 'done'));
  expect(await timesDecided(world, task_ids, 'report.waived')).toEqual(task_ids.map(() => 1));
});
