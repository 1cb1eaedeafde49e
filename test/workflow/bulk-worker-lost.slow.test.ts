import * as fc from 'fast-check';
import { decideTasks, type DecideTasksTools } from '../../jobs/decide-tasks';
import { ROUTES } from '../../src/contracts/operator-routes';
import type { Actor } from '../../src/domain/audit';
import { openBulk } from '../../src/main/bulk';
import { openFoundation } from '../../src/main/foundation';
import { silentLog } from '../../src/platform/log';
import { eventually } from '../support/eventually';
import {
  codeOf,
  outcomes,
  person,
  previewed,
  refOf,
  refusedReports,
  reportState,
  runIn,
  timesDecided,
  useBulkWorld,
} from './bulk-world';

const world = useBulkWorld();

const NEVER = new Promise<never>(() => {});

interface End {
  /** The last step, from 1: reading the run, a call of the operator API, a commit on the run. */
  readonly step: number;
  readonly when: 'before' | 'after';
}

/** The tools of a worker that is lost `before` or `after` the effect of a step: from then on nothing has an effect. */
function mortal({ step: last, when }: End): DecideTasksTools & { readonly isLost: () => boolean } {
  const tools = world.parts();
  let steps = 0;
  let isLost = false;
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    steps += 1;
    const isLast = steps === last;
    if (isLost || (isLast && when === 'before')) {
      isLost = true;
      return NEVER;
    }
    const result = await work();
    isLost ||= isLast;
    return isLost ? NEVER : result;
  };
  return {
    ...tools,
    isLost: () => isLost,
    store: {
      ...tools.store,
      next: (id) => step(() => tools.store.next(id)),
      change: (id, decide) => step(() => tools.store.change(id, decide)),
    },
    api: { ...tools.api, call: (route, call) => step(() => tools.api.call(route, call)) },
  };
}

/** Starts a run of waivers and lets a worker begin it that is lost; resolves when it is lost, or the run is done. */
async function beginAndLose(task_ids: readonly string[], who: Actor, end: End): Promise<string> {
  const bulk = world.console();
  const { id } = await previewed(bulk, { action: 'waive', task_ids, reason: 'gone' }, who);
  expect(await codeOf(bulk.start(id, who))).toBe('ok');
  await continueAndLose(id, end);
  return id;
}

async function continueAndLose(id: string, end: End): Promise<void> {
  const tools = mortal(end);
  const worker = world.worker(tools);
  await eventually(async () => {
    const run = await world.console().read(id);
    expect(tools.isLost() || run?.state === 'done').toBe(true);
  });
  await worker.stop();
}

it('another worker continues a run whose worker was lost at any step, and each task is decided once', async () => {
  const who = await person(world, 'dispatcher');
  const scenario = fc.record({
    when: fc.constantFrom('before' as const, 'after' as const),
    step: fc.integer({ min: 1, max: 14 }),
    next: fc.integer({ min: 1, max: 10 }),
    count: fc.integer({ min: 1, max: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ when, step, next, count }) => {
      const task_ids = await refusedReports(world, count);
      const id = await beginAndLose(task_ids, who, { step, when });
      await continueAndLose(id, { step: next, when });
      const worker = world.worker();
      const run = await runIn(world.console(), id, 'done');
      await worker.stop();
      expect(run.items.map(({ outcome, words }) => [outcome, words])).toEqual(task_ids.map(() => ['done', null]));
      expect(await timesDecided(world, task_ids, 'report.waived')).toEqual(task_ids.map(() => 1));
    }),
    { numRuns: 8, endOnFailure: true },
  );
}, 600_000);

// The second step is the call that decides.
it('a worker that was lost between a decision and its record leaves the task waiting; another records it as done', async () => {
  const [task = ''] = await refusedReports(world, 1);
  const id = await beginAndLose([task], await person(world, 'dispatcher'), { step: 2, when: 'after' });
  expect(await reportState(world, task)).toBe('waived');
  const lost = await world.console().read(id);
  expect(lost).toMatchObject({ state: 'running', items: [{ outcome: 'waiting', hasBegun: true }] });
  world.worker();
  expect(outcomes(await runIn(world.console(), id, 'done'))).toEqual(['done']);
  expect(await timesDecided(world, [task], 'report.waived')).toEqual([1]);
});

it('a task that a lost worker had begun and a person then decided is gone, and no decision is added', async () => {
  const [task = ''] = await refusedReports(world, 1);
  const who = await person(world, 'dispatcher');
  const id = await beginAndLose([task], who, { step: 2, when: 'before' });
  const params = { towing_reference_id: refOf(task), report_id: 'started-1' };
  const body = { plate_number: 'KLM 77' };
  expect((await world.api.call(ROUTES.correctReport, { actor: who, params, body })).ok).toBe(true);
  world.worker();
  expect(outcomes(await runIn(world.console(), id, 'done'))).toEqual(['gone']);
  expect(await reportState(world, task)).toBe('pending');
});

it.each([
  ['after', 'done', 'waived'],
  ['before', 'skipped', 'refused'],
] as const)('after an abort, a task whose worker was lost %s its decision is %s', async (when, outcome, state) => {
  const task_ids = await refusedReports(world, 1);
  const who = await person(world, 'dispatcher');
  const id = await beginAndLose(task_ids, who, { step: 2, when });
  const bulk = world.console();
  expect(await codeOf(bulk.abort(id, who))).toBe('ok');
  expect(await bulk.read(id)).toMatchObject({ state: 'aborted', counts: { waiting: 1 } });
  world.worker();
  await eventually(async () => expect((await bulk.read(id))?.items).toMatchObject([{ outcome }]));
  expect((await bulk.read(id))?.counts).toMatchObject({ waiting: 0, [outcome]: 1 });
  expect(await reportState(world, task_ids[0] ?? '')).toBe(state);
});

it('workers that run the same bulk run at the same time decide each task once', async () => {
  const task_ids = await refusedReports(world, 18);
  const who = await person(world, 'dispatcher');
  const bulk = world.console();
  const { id } = await previewed(bulk, { action: 'waive', task_ids, reason: 'gone' }, who);
  await bulk.start(id, who);
  await Promise.all(Array.from({ length: 5 }, () => decideTasks({ bulk_id: id }, world.parts())));
  expect(await bulk.read(id)).toMatchObject({ state: 'done', counts: { waiting: 0, done: 18 } });
  expect(await timesDecided(world, task_ids, 'report.waived')).toEqual(task_ids.map(() => 1));
});

it('a run gives way to other work after 20 tasks and asks for its next turn', async () => {
  const task_ids = await refusedReports(world, 23);
  const who = await person(world, 'dispatcher');
  const bulk = world.console();
  const { id } = await previewed(bulk, { action: 'waive', task_ids, reason: 'gone' }, who);
  await bulk.start(id, who);
  expect(await decideTasks({ bulk_id: id }, world.parts())).toEqual({ kind: 'continue', what: 'continue', ref: id });
  expect((await bulk.read(id))?.counts).toMatchObject({ done: 20, waiting: 3 });
  world.worker();
  expect((await runIn(bulk, id, 'done')).counts.done).toBe(23);
});

it('a run survives the console process that started it', async () => {
  const task_ids = await refusedReports(world, 3);
  const who = await person(world, 'dispatcher');
  const other = await openFoundation({ config: world.foundation.config, log: silentLog });
  const bulk = openBulk(other);
  const { id } = await previewed(bulk, { action: 'waive', task_ids, reason: 'gone' }, who);
  await bulk.start(id, who);
  await other.resources.closeAll();
  world.worker();
  expect(outcomes(await runIn(world.console(), id, 'done'))).toEqual(['done', 'done', 'done']);
});

it('the schedule of a run that has expired is removed', async () => {
  const { redis, schedules } = world.foundation;
  await redis.zadd('{towhook-main}:due:bulk', 1, 'expired-run');
  world.worker();
  await eventually(async () => expect(await redis.zcard('{towhook-main}:due:bulk')).toBe(0));
  expect(await schedules.bulk.backlog()).toEqual({ due: 0, oldestAgeMs: 0 });
});
